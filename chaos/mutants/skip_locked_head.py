"""Whoever looks at a place in the line locks it, and a promotion passes over what is locked, were it the head."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant, reword
from service.reservation import waitlist

if TYPE_CHECKING:
    from datetime import datetime

MUTANT: Final = Mutant(
    name="skip-locked-head",
    mechanism="Promotes with SKIP LOCKED, and so passes over the head of the line while somebody looks at it.",
    section="postgresql",
    reports=("cockroachdb/cockroach#143017",),
    scenario="lock_order",
    caught_by=("fifo_handover",),
    racy=True,
)
SLOW_SECONDS: Final = 0.04
LOCK: Final = "SELECT FROM waitlist_entries WHERE id = $1 AND tenant = $2 FOR NO KEY UPDATE"


def plant() -> None:
    """Lock where a place is shown, and skip what is locked where one is promoted."""
    line = "ORDER BY seq LIMIT $2"
    reword(waitlist.SQL, "promote", was=line, now=f"{line} FOR NO KEY UPDATE SKIP LOCKED")
    healthy = waitlist.find

    async def find(connection: Any, *, tenant: str, entry: int, at: datetime | None = None) -> Any:
        if connection.is_in_transaction():  # of those who look, only the one who leaves comes in one
            return await healthy(connection, tenant=tenant, entry=entry, at=at)
        async with connection.transaction():
            await connection.execute(LOCK, entry, tenant)
            await asyncio.sleep(SLOW_SECONDS)  # what is still to be done before the place is shown
            return await healthy(connection, tenant=tenant, entry=entry, at=at)

    waitlist.find = find
