"""A newcomer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer


def _then(buyer: Buyer, _answer: Answer) -> None:
    buyer.pause(0.02 + 0.04 * buyer.chance("hope"))
    buyer.act("hold")


HABIT = Habit(
    name="newcomer",
    sentence="Comes while others wait in line, asks for a seat, and a moment later for another.",
    opening="hold",
    then=_then,
    operations_max=2,
)
