"""Two seats are asked for and one is left: it is taken, the other is refused, and the first is not given back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant, _take
from service import errors, statements
from service.reservation import holds
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from datetime import datetime

    from service.reservation.holds import Order

MUTANT: Final = Mutant(
    name="partial-acquire",
    mechanism="Takes several seats one by one, each in a commit of its own, and keeps what it has when the next is refused.",
    section="capacity",
    reports=("medusajs/medusa#16285",),
    scenario="change_of_plans",
    caught_by=("occupancy_matches_claims", "sold_out_is_true"),
)

SQL: Final = {
    statement.name: statement
    for statement in statements.parse(f"""\
-- name: seat
-- Takes one seat, if one is free.
UPDATE resources SET occupied_count = occupied_count + 1, revision = revision + 1
WHERE id = :resource AND state = 'OPEN' AND occupied_count < capacity
RETURNING id

-- name: hold
-- Writes the hold of the seats that were taken, and its answer.
WITH occupied AS (
    SELECT id, tenant, revision, policy_version, hold_ttl, coalesce(:at::timestamptz, clock_timestamp()) AS at
    FROM resources WHERE id = :resource
), {_take.HELD}, {_take.ANSWERED}
""")  # noqa: S608 - made of constants
}
_take_alone = holds.take


def plant() -> None:
    """Let those who ask for several seats be served seat by seat."""
    holds.take = take


async def take(connection: Any, order: Order, *, at: datetime | None = None) -> Answer | None:
    """Decide a hold of one seat as the service does, and one of several in a commit for each."""
    if order.quantity == 1:
        return await _take_alone(connection, order, at=at)
    record = await _take.claim(connection, order)
    if record is None:
        return None
    for _ in range(order.quantity):
        if await SQL["seat"].value(connection, resource=order.resource) is None:
            return await _take.refuse(connection, record, errors.CAPACITY_EXHAUSTED)
    row = await SQL["hold"].row(
        connection, resource=order.resource, at=at, owner=order.owner_digest, key=order.key, quantity=order.quantity,
        record=record,
    )  # fmt: skip
    return Answer(row["status"], row["body"])
