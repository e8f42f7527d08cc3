"""Redis counts what is left, and what it counted down for a hold that then failed is never put back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chaos.mutants import Mutant, _stock

if TYPE_CHECKING:
    from service.reservation.holds import Order

MUTANT: Final = Mutant(
    name="redis-authority",
    mechanism="Counts the stock down in Redis before the database is asked, and does not count it up when that fails.",
    section="redis",
    reports=(
        "qiurunze123/miaosha#91",
        "hfbin/Seckill#14",
        "newbee-ltd/newbee-mall#97",
        "bootsrc/jseckill#21",
    ),
    scenario="pool_exhaustion",
    caught_by=("sold_out_is_true",),
)


def plant() -> None:
    """Ask Redis first, and tell it only of what ended well."""
    _stock.ask_redis_first(failed=forget)


async def forget(_counted: _stock.Stock, _order: Order) -> None:
    """Leave the seats of a hold that failed counted down."""
