"""Redis has no seat left, and that is that: the database is never asked, and knows nothing of who was turned away."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant, _stock
from service import errors
from service.errors import Refused
from service.reservation import holds

if TYPE_CHECKING:
    from service.database import Database
    from service.reservation.holds import Order
    from service.reservation.idempotency import Answered

MUTANT: Final = Mutant(
    name="redis-authority-alone",
    mechanism="Refuses for good by the stock in Redis alone: the database neither decides it nor writes it down.",
    section="redis",
    reports=(
        "qiurunze123/miaosha#91",
        "hfbin/Seckill#14",
        "newbee-ltd/newbee-mall#97",
        "bootsrc/jseckill#21",
    ),
    scenario="hot_row_stampede",
    caught_by=("redis_never_decides",),
)


def plant() -> None:
    """Tell Redis of every seat that was sold, and turn people away where it has none, without a word to the database."""
    healthy, stock = holds.place, _stock.Stock()

    async def place(database: Database, order: Order, **given: Any) -> Answered:
        if await stock.left(database, order) < order.quantity:
            raise Refused(errors.CAPACITY_EXHAUSTED)
        answered = await healthy(database, order, **given)
        # Only now: so Redis never has fewer than there are, and every refusal of its is true.
        if answered.answer.status == _stock.CREATED and not answered.replayed:
            await stock.give_back(order.resource, -order.quantity)
        return answered

    holds.place = place
    stock.hear_of_releases()
