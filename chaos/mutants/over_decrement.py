"""Redis counts down before anybody looks whether the command is known: each repeat of a click takes a seat off sale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chaos.mutants import Mutant, _stock
from chaos.mutants._refusal import refuse_as_sold_out
from service.reservation import holds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta

    from service.database import Database
    from service.reservation.holds import Order
    from service.reservation.idempotency import Answer, Answered

MUTANT: Final = Mutant(
    name="over-decrement",
    mechanism="Counts the stock in Redis down for every click, the repeated ones that get no further seat included.",
    section="redis",
    reports=("hfbin/Seckill#11",),
    scenario="timeout_retry",
    caught_by=("sold_out_is_true",),
)

_place: Final = holds.place


def plant() -> None:
    """Ask Redis first, and tell it of what came to nothing, but not of what was only told again."""
    stock = _stock.Stock()

    async def place(
        database: Database,
        order: Order,
        *,
        lease: timedelta,
        decide: Callable[[Order], Awaitable[Answer | None]] | None = None,
    ) -> Answered:
        if not await stock.take(database, order):
            return await refuse_as_sold_out(database, order, lease=lease)
        try:
            answered = await _place(database, order, lease=lease, decide=decide)
        except BaseException:
            await stock.give_back(order.resource, order.quantity)
            raise
        if answered.answer.status != _stock.CREATED:
            await stock.give_back(order.resource, order.quantity)
        return answered

    holds.place = place
    stock.hear_of_releases()
