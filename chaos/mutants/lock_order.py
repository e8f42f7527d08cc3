"""One path takes two locks the other way round: whoever meets it waits for it, and it for them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service import database, statements
from service.reservation import reservations

if TYPE_CHECKING:
    from service.reservation.idempotency import Answer
    from service.reservation.rules import Action

MUTANT: Final = Mutant(
    name="lock-order",
    mechanism="Cancelling a reservation locks the next in line first and the resource after, where every other path locks "
    "the resource first; and the transaction that the database ends as deadlocked is not tried again.",
    section="capacity",
    reports=("django-oscar/django-oscar#4594", "magento/magento2#41224", "medusajs/medusa#11403"),
    scenario="lock_order",
    caught_by=("errors_are_earned",),
    racy=True,
)

SQL: Final = {
    statement.name: statement
    for statement in statements.parse("""\
-- name: lock_next
-- Locks whoever has waited longest, so as to be sure of whom the seat goes to.
SELECT id FROM waitlist_entries WHERE resource_id = :resource AND state = 'WAITING' ORDER BY seq LIMIT 1 FOR NO KEY UPDATE
""")
}
# Between the two locks of such code lies more code.
BETWEEN_SECONDS: Final = 0.01
_cancel = reservations.cancel


def plant() -> None:
    """Turn the order round on one path, and let a deadlock be an error like any other."""
    reservations.cancel = cancel
    vars(database)["_RETRIED"] = ()


async def cancel(connection: Any, action: Action) -> Answer:
    """Lock who will be served, and then do as the service does; raises Refused."""
    seen = await reservations.find(connection, tenant=action.tenant, reservation=action.id)
    await SQL["lock_next"].value(connection, resource=seen["resource_id"])
    await asyncio.sleep(BETWEEN_SECONDS)
    return await _cancel(connection, action)
