"""An owner's seats are counted before the resource is locked: requests that come together all find room for one more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service.reservation import claims, holds, resources

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime

    from service.reservation.holds import Order
    from service.reservation.idempotency import Answer

    Take = Callable[..., Awaitable[Answer]]

MUTANT: Final = Mutant(
    name="user-limit-race",
    mechanism="Counts what an owner has before the resource is locked, and not again after it.",
    section="limits",
    reports=("linlinjava/litemall#581", "saleor/saleor#544"),
    scenario="limit_bypass",
    caught_by=("limits_hold",),
    racy=True,
)


def plant() -> None:
    """Count first, and find whatever comes later within the limit."""
    counted, healthy = claims.within_limit, holds.take_counted

    async def take_counted(connection: Any, order: Order, *, at: datetime | None = None) -> Answer:
        room = await resources.find(connection, tenant=order.tenant, resource=order.resource)
        await counted(connection, room, order.owner_digest, order.quantity)
        return await healthy(connection, order, at=at)

    async def within_limit(connection: Any, room: Any, owner: str, more: int) -> None:
        """Believe the count of before: the line is joined without one."""

    holds.take_counted = take_counted
    claims.within_limit = within_limit
