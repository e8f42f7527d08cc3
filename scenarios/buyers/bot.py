"""A bot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer

SEATS = 8


def _then(buyer: Buyer, _answer: Answer) -> None:
    buyer.at_once("hold", SEATS)
    buyer.act("hold_in_the_name_of", name=f"{buyer.name}-too")


HABIT = Habit(
    name="bot",
    sentence="Looks once, then asks for many seats in the same instant, on every node, and for one more under another name.",
    opening="read_resource",
    then=_then,
    operations_max=2 + SEATS,
)
