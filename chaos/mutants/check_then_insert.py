"""The key is looked up, the seat is taken, the key is written down: twins both find it unknown, and both take a seat."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant, _twins
from service import errors, statements
from service.errors import Refused
from service.reservation import holds, idempotency
from service.reservation.idempotency import Answer, Answered, FingerprintConflict, Replay

if TYPE_CHECKING:
    from service.database import Connection, Database
    from service.reservation.holds import Order

MUTANT: Final = Mutant(
    name="check-then-insert",
    mechanism="Looks a key up, does the work, and only then writes the key down.",
    section="idempotency",
    reports=(
        "square1-io/laravel-idempotency#1",
        "zonelessdev/zoneless#134",
        "janavipandole/Cara#4929",
    ),
    scenario="timeout_retry",
    caught_by=("one_effect_per_key",),
    racy=True,
)

SQL: Final = {
    statement.name: statement
    for statement in statements.parse("""\
-- name: remember
-- Writes a key and its answer down, once the work is done; whoever comes second keeps quiet.
WITH record AS (
    INSERT INTO idempotency_records (tenant, operation, key, fingerprint, owner_token, lease_expires_at)
    VALUES (:tenant, :operation, :key, :fingerprint, '', clock_timestamp())
    ON CONFLICT (tenant, operation, key) DO NOTHING
    RETURNING id
)
INSERT INTO idempotency_answers (record_id, status, body) SELECT id, :status, :body FROM record
""")
}
_WORK_SECONDS: Final = 0.02  # such services load the cart and the customer between the look and the work


def plant() -> None:
    """Put the hold that is looked up first and written down last in the place of the service's."""
    holds.place = place
    _twins.let_twins_meet()


async def place(database: Database, order: Order, **_: Any) -> Answered:
    """Decide a hold unless its key is known, and remember the answer."""
    known = await database.read(
        lambda connection: idempotency.recall(connection, order.scope, order.fingerprint)
    )
    match known:
        case Replay(status, body):
            return Answered(Answer(status, body), replayed=True)
        case FingerprintConflict():
            raise Refused(errors.IDEMPOTENCY_FINGERPRINT_CONFLICT)
    await asyncio.sleep(_WORK_SECONDS)
    try:
        answer = await database.transaction(lambda connection: _taken(connection, order))
    except Refused as refused:
        if not refused.refusal.final:
            raise
        answer = Answer(refused.refusal.status, refused.refusal.body)
        await database.autocommit(lambda connection: _remember(connection, order, answer))
    return Answered(answer, replayed=False)


async def _taken(connection: Connection, order: Order) -> Answer:
    answer = await holds.take_counted(connection, order)
    await _remember(connection, order, answer)
    return answer


async def _remember(connection: Connection, order: Order, answer: Answer) -> None:
    await SQL["remember"].value(
        connection, tenant=order.tenant, operation=holds.OPERATION, key=order.key, fingerprint=order.fingerprint,
        status=answer.status, body=answer.body,
    )  # fmt: skip
