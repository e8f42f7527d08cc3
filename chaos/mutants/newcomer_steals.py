"""A freed seat is given back in one transaction and offered in the next: a newcomer takes it in between."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from chaos.mutants import Mutant
from service.database import Database
from service.reservation import handover, resources

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from service.database import Connection

T = TypeVar("T")

MUTANT: Final = Mutant(
    name="newcomer-steals",
    mechanism="Gives a freed seat back in one transaction and offers what is left of it to the line in another.",
    section="waitlist",
    reports=(
        "MarcosRabadan/Agendia#268",
        "programaconnosotros/pcn-website#256",
        "SandeepVashishtha/Eventra#16161",
    ),
    scenario="newcomer_flood",
    caught_by=("newcomers_never_overtake", "no_gap_in_handover"),
    racy=True,
)

_LATER_SECONDS: Final = (
    0.02  # what such services put between the two: a queue, a hook, a call to another module
)
_FREED: ContextVar[list[tuple[Any, int]]] = ContextVar("freed")
_transaction = Database.transaction


def plant() -> None:
    """Let a hand-over only release, and promote once that has been committed."""
    handover.promote_or_release = release_first
    Database.transaction = transaction  # type: ignore[method-assign]  # that is how a bug is planted


async def release_first(connection: Connection, room: Any, seats: int, at: datetime) -> int:  # noqa: ARG001 - its signature
    """Let the seats fall from the count and remember that somebody may be waiting for them."""
    await handover.release(connection, room, seats)
    _FREED.get().append((room, seats))
    return 0


async def transaction(self: Database, work: Callable[[Connection], Awaitable[T]]) -> T:
    """Do the work, and after its commit offer to the line what it has freed."""
    freed: list[tuple[Any, int]] = []

    async def noted(connection: Connection) -> T:
        freed.clear()  # of an attempt that was rolled back
        _FREED.set(freed)
        return await work(connection)

    result = await _transaction(self, noted)
    for room, seats in freed:
        await asyncio.sleep(_LATER_SECONDS)
        await _transaction(self, partial(_offer, room=room, seats=seats))
    return result


async def _offer(connection: Connection, room: Any, seats: int) -> None:
    now = await resources.lock(connection, tenant=room["tenant"], resource=room["id"])
    left = min(seats, now["capacity"] - now["occupied_count"])
    if left > 0 and now["state"] == "OPEN":
        at = await resources.clock(connection)
        promoted = await handover.promote(connection, now, left, at)
        await resources.SQL["resize"].row(
            connection, resource=now["id"], capacity=now["capacity"], promoted=promoted
        )
