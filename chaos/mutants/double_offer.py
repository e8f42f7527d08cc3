"""Two promotions look for the head of the line at the same time, find the same one, and both make it an offer."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service import statements
from service.reservation import reservations, waitlist

if TYPE_CHECKING:
    from service.database import Connection
    from service.reservation.idempotency import Answer
    from service.reservation.rules import Action

MUTANT: Final = Mutant(
    name="double-offer",
    mechanism="Looks for the head of the line before it has the lock, and never asks whether it still waits.",
    section="waitlist",
    reports=("SandeepVashishtha/Eventra#5698", "SandeepVashishtha/Eventra#14364"),
    scenario="lock_order",
    caught_by=("fifo_handover", "outbox_matches_events"),
    racy=True,
    # One offer an entry is what the schema insists on.
    schema=("ALTER TABLE offers DROP CONSTRAINT offers_entry_id_key",),
)

SQL: Final = {
    statement.name: statement
    for statement in statements.parse("""\
-- name: head
-- Reads who stands at the head of the line, as it is now.
SELECT id FROM waitlist_entries WHERE resource_id = :resource AND state = 'WAITING' ORDER BY seq LIMIT 1
""")
}
_SLOW_SECONDS: Final = 0.03  # such services load the event and the member between the look and the offer
_HEAD: ContextVar[int | None] = ContextVar("head", default=None)
_cancel, _by_seq = reservations.cancel, waitlist.SQL["promote"]


class _Promote:
    """The service's statement, or for somebody who has seen the head of the line: an offer to that one."""

    async def rows(self, connection: Connection, **given: object) -> Any:
        """Offer the seats."""
        if (head := _HEAD.get()) is not None:
            text = _by_seq.text.replace(
                "state = 'WAITING'", f"state IN ('WAITING', 'OFFERED') AND id = {head}"
            )
            if offered := await replace(_by_seq, text=text).rows(connection, **given):
                return offered
        return await _by_seq.rows(connection, **given)


def plant() -> None:
    """Let whoever gives a reservation back look for the next owner first."""
    reservations.cancel = cancel
    waitlist.SQL["promote"] = _Promote()  # type: ignore[assignment]  # it is asked for rows, and for nothing else


async def cancel(connection: Connection, action: Action) -> Answer:
    """Look for the head of the line, then end the reservation and hand its seat to whom was seen."""
    seen = await reservations.find(connection, tenant=action.tenant, reservation=action.id)
    _HEAD.set(await SQL["head"].value(connection, resource=seen["resource_id"]))
    await asyncio.sleep(_SLOW_SECONDS)
    return await _cancel(connection, action)
