"""The seat is looked up and then taken, in two statements: two buyers both find the last one free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant, _take
from service import errors, statements
from service.reservation import holds
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from datetime import datetime

    from service.errors import Refusal
    from service.reservation.holds import Order

MUTANT: Final = Mutant(
    name="oversell-read-write",
    mechanism="Reads the occupied count, decides, then writes the count that it read plus its own seats.",
    section="capacity",
    reports=(
        "saleor/saleor#543",
        "vendurehq/vendure#4930",
        "nopSolutions/nopCommerce#4184",
        "opencart/opencart#4811",
        "cubecart/v6#4224",
        "tryshoppe/shoppe#403",
        "Paymenter/Paymenter#965",
        "eventespresso/event-espresso-core#109",
        "awesto/django-shop#888",
    ),
    scenario="last_seat_race",
    caught_by=("never_oversold",),
    racy=True,
    faults=("latency:pg=100ms",),
)

SQL: Final = {
    statement.name: statement
    for statement in statements.parse(f"""\
-- name: look
-- Reads what is free, without a lock: what it says may be over by the next statement.
SELECT state, capacity, occupied_count, revision FROM resources WHERE id = :resource AND tenant = :tenant

-- name: take
-- Saves the count that was read plus the new seats; hold and answer go with it.
WITH {_take.SAVED}, {_take.HELD}, {_take.ANSWERED}
""")  # noqa: S608 - made of constants
}


def plant() -> None:
    """Put the two-step take in the place of the service's one statement."""
    holds.take = take


async def take(connection: Any, order: Order, *, at: datetime | None = None) -> Answer | None:
    """Decide a hold in one READ COMMITTED transaction, but not in one statement."""
    async with connection.transaction():
        record = await _take.claim(connection, order)
        if record is None:
            return None
        seen = await SQL["look"].row(connection, resource=order.resource, tenant=order.tenant)
        if (refusal := _refusal(seen, order)) is not None:
            return await _take.refuse(connection, record, refusal)
        # One statement, so that a slow database keeps the row locked no longer than it must.
        row = await SQL["take"].row(
            connection, resource=order.resource, occupied=seen["occupied_count"] + order.quantity, at=at,
            owner=order.owner_digest, key=order.key, quantity=order.quantity, record=record,
        )  # fmt: skip
        return Answer(row["status"], row["body"])


def _refusal(seen: Any, order: Order) -> Refusal | None:
    if seen["state"] != "OPEN":
        return errors.RESOURCE_CLOSED
    if seen["occupied_count"] + order.quantity > seen["capacity"]:
        return errors.CAPACITY_EXHAUSTED
    if order.expected_revision not in (None, seen["revision"]):
        return errors.RESOURCE_REVISION_CONFLICT
    return None
