"""A bot."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer

SEATS = 8


def _then(buyer: Buyer, _answer: Answer) -> None:
    buyer.at_once("hold", SEATS)


HABIT = Habit(
    name="bot",
    sentence="Looks once, then asks for many seats in the same instant, on every node.",
    opening="read_resource",
    then=_then,
    operations_max=1 + SEATS,
)
