"""A canceller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer


def _then(buyer: Buyer, answer: Answer) -> None:
    if answer.outcome is Outcome.OK and answer.created is not None:
        buyer.pause(0.02 + 0.08 * buyer.chance("doubts"))
        buyer.act("cancel", hold=int(answer.created))


HABIT = Habit(
    name="canceller",
    sentence="Takes a seat, has doubts, and gives it back.",
    opening="hold",
    then=_then,
    operations_max=2,
)
