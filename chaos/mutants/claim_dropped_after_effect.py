"""The outcome is unknown, so the key is forgotten; the seat was taken all the same, and a retry takes another."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service import errors, statements
from service.errors import Refused
from service.reservation import holds

if TYPE_CHECKING:
    from service.database import Database
    from service.reservation.holds import Order
    from service.reservation.idempotency import Answered

MUTANT: Final = Mutant(
    name="claim-dropped-after-effect",
    mechanism="Forgets a key whenever its command fails, even where nobody knows whether it had its effect.",
    section="idempotency",
    reports=("devlab-group/agent-commerce#13", "pathosDev/actor-ts#984"),
    scenario="database_blip",
    caught_by=("one_effect_per_key",),
)

SQL: Final = {
    statement.name: statement
    for statement in statements.parse("""\
-- name: forget
-- Deletes a key and what was answered under it.
WITH answer AS (
    DELETE FROM idempotency_answers AS a USING idempotency_records AS r
    WHERE r.id = a.record_id AND r.tenant = :tenant AND r.operation = :operation AND r.key = :key
)
DELETE FROM idempotency_records WHERE tenant = :tenant AND operation = :operation AND key = :key
""")
}
TRIES_MAX, PAUSE_SECONDS = 40, 0.05
_place = holds.place


def plant() -> None:
    """Clean up behind a hold that failed."""
    holds.place = place


async def place(database: Database, order: Order, **named: Any) -> Answered:
    """Decide a hold, and drop its key where that failed."""
    try:
        return await _place(database, order, **named)
    except Refused as refused:
        if refused.refusal is errors.OUTCOME_UNKNOWN:
            await _forget(database, order)
        raise


async def _forget(database: Database, order: Order) -> None:
    """Drop the key. Such claims are kept in a store of their own, which the trouble does not reach: hence the patience."""
    for _ in range(TRIES_MAX):
        try:
            await database.autocommit(
                lambda connection: SQL["forget"].value(
                    connection, tenant=order.tenant, operation=holds.OPERATION, key=order.key
                )
            )
        except Refused:
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            return
