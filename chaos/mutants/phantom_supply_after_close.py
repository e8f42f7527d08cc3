"""The sale is over, and the line goes on moving: seats that come free are still offered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant, reword
from service.reservation import handover, resources

if TYPE_CHECKING:
    from datetime import datetime

    from service.database import Connection

MUTANT: Final = Mutant(
    name="phantom-supply-after-close",
    mechanism="Leaves the line standing when a resource is closed, and goes on offering it what comes free.",
    section="waitlist",
    reports=("pretix/pretix#681", "pretix/pretix#1031"),
    scenario="lock_order",
    caught_by=("offers_only_while_open",),
)

_promote_or_release = handover.promote_or_release


def plant() -> None:
    """Let neither the closing nor the hand-over ask whether anything is still on offer."""
    reword(resources.SQL, "close", was="WHERE resource_id = $2 AND state = 'WAITING'", now="WHERE false")
    handover.promote_or_release = promote_or_release


async def promote_or_release(connection: Connection, room: Any, seats: int, at: datetime) -> int:
    """Hand seats over as if the resource were open."""
    return await _promote_or_release(connection, {**room, "state": "OPEN"}, seats, at)
