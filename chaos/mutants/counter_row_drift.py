"""Every hold is there, and the counter beside them has lost some: it was read before the others had written it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant, _schema, _take
from service import errors, statements
from service.reservation import bodies, holds, resources
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from datetime import datetime

    from service.reservation.holds import Order

MUTANT: Final = Mutant(
    name="counter-row-drift",
    mechanism="Counts the live rows under the lock, and then saves the counter as it was loaded before the lock, plus "
    "its own seats: parallel holds lose increments, and when they are given back the counter falls below zero.",
    section="capacity",
    reports=("medusajs/medusa#16569",),
    scenario="hot_row_stampede",
    caught_by=("occupancy_matches_claims",),
    racy=True,
    schema=(_schema.NO_CAPACITY_CHECK,),
)

SQL: Final = {
    statement.name: statement
    for statement in statements.parse(f"""\
-- name: claimed
-- Counts what is taken by its rows, after the lock.
SELECT (SELECT coalesce(sum(quantity), 0) FROM holds WHERE resource_id = :resource AND state = 'ACTIVE')
     + (SELECT coalesce(sum(quantity), 0) FROM reservations WHERE resource_id = :resource AND state = 'CONFIRMED')

-- name: take
-- Saves the counter that was loaded plus the new seats, and the hold.
WITH {_take.SAVED}, {_take.HELD}
SELECT held.*, occupied.revision AS resource_revision FROM held, occupied
""")  # noqa: S608 - made of constants
}


def plant() -> None:
    """Send every plain hold down the two-step path, and let that one save what it had loaded."""
    holds.take = no_answer
    holds.take_counted = take_counted


async def no_answer(connection: Any, order: Order, *, at: datetime | None = None) -> Answer | None:  # noqa: ARG001 - as `holds.take`
    """Leave a hold to the two-step path, as if its resource were one with a limit per owner."""
    return None


async def take_counted(connection: Any, order: Order, *, at: datetime | None = None) -> Answer:
    """Decide a hold by the rows, and save the counter as it was before the lock plus the new seats; raises Refused."""
    loaded = await resources.find(connection, tenant=order.tenant, resource=order.resource)
    room = await resources.lock(connection, tenant=order.tenant, resource=order.resource)
    if room["state"] != "OPEN":
        raise errors.Refused(errors.RESOURCE_CLOSED)
    claimed = await SQL["claimed"].value(connection, resource=order.resource)
    if claimed + order.quantity > room["capacity"]:
        raise errors.Refused(errors.CAPACITY_EXHAUSTED)
    if order.expected_revision not in (None, room["revision"]):
        raise errors.Refused(errors.RESOURCE_REVISION_CONFLICT)
    hold = await SQL["take"].row(
        connection, resource=order.resource, occupied=loaded["occupied_count"] + order.quantity, at=at,
        owner=order.owner_digest, key=order.key, quantity=order.quantity,
    )  # fmt: skip
    return Answer(201, bodies.encoded(bodies.TakenHold.of(hold)))
