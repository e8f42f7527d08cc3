"""A dawdler."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios import line
from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer


def _then(buyer: Buyer, answer: Answer) -> None:
    if answer.outcome is Outcome.FAIL:
        line.join(buyer)


HABIT = Habit(
    name="dawdler",
    sentence="Takes a seat or joins the line, and never looks again: the seat and any offer can only expire.",
    opening="hold",
    then=_then,
    operations_max=2,
)
