"""One path takes two locks the other way round: whoever meets it waits for it, and it for them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service import database, statements
from service.reservation import holds

if TYPE_CHECKING:
    from datetime import datetime

    from service.reservation.holds import Order
    from service.reservation.idempotency import Answer

MUTANT: Final = Mutant(
    name="lock-order",
    mechanism="A new hold locks the head of the line first, so as not to overtake it, and the resource after, where every "
    "other path locks the resource first; and what the database ends as deadlocked is not tried again.",
    section="capacity",
    reports=("django-oscar/django-oscar#4594", "magento/magento2#41224", "medusajs/medusa#11403"),
    scenario="lock_order",
    caught_by=("errors_are_earned",),
    racy=True,
)

SQL: Final = {
    statement.name: statement
    for statement in statements.parse("""\
-- name: lock_head
-- Sees to it that whoever has waited longest still does when the seat is given out.
SELECT id FROM waitlist_entries WHERE resource_id = :resource AND state = 'WAITING' ORDER BY seq LIMIT 1 FOR SHARE
""")
}
# Between the two locks of such code lies more code.
BETWEEN_SECONDS: Final = 0.03
_take = holds.take


def plant() -> None:
    """Turn the order round on one path, and let a deadlock be an error like any other."""
    holds.take = take
    vars(database)["_RETRIED"] = ()


async def take(connection: Any, order: Order, *, at: datetime | None = None) -> Answer | None:
    """Lock whoever is first in line, and then decide the hold as the service does."""
    async with connection.transaction():
        await SQL["lock_head"].value(connection, resource=order.resource)
        await asyncio.sleep(BETWEEN_SECONDS)
        return await _take(connection, order, at=at)
