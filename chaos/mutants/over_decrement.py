"""Redis counts down before anybody looks whether the command is known: each repeat of a click takes a seat off sale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from chaos.mutants.redis_authority import Stock
from service.reservation import handover, holds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta

    from service.database import Connection, Database
    from service.reservation.holds import Order
    from service.reservation.idempotency import Answer, Answered

MUTANT: Final = Mutant(
    name="over-decrement",
    mechanism="Counts the stock in Redis down for every click, the repeated ones that get no further seat included.",
    section="redis",
    reports=("hfbin/Seckill#11",),
    scenario="timeout_retry",
    caught_by=("sold_out_is_true", "redis_never_decides"),
)

_CREATED: Final = 201
_place: Final = holds.place
_release: Final = handover.release


def plant() -> None:
    """Ask Redis first, and tell it of what came to nothing, but not of what was only told again."""
    stock = Stock()

    async def place(
        database: Database,
        order: Order,
        *,
        lease: timedelta,
        decide: Callable[[Order], Awaitable[Answer | None]] | None = None,
    ) -> Answered:
        await stock.take(database, order)
        try:
            answered = await _place(database, order, lease=lease, decide=decide)
        except BaseException:
            await stock.give_back(order.resource, order.quantity)
            raise
        if answered.answer.status != _CREATED:
            await stock.give_back(order.resource, order.quantity)
        return answered

    async def release(connection: Connection, room: Any, seats: int) -> None:
        await _release(connection, room, seats)
        await stock.give_back(room["id"], seats)

    holds.place = place
    handover.release = release
