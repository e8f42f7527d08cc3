"""An eager buyer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer


def _then(buyer: Buyer, answer: Answer) -> None:
    if answer.outcome is Outcome.OK and answer.created is not None:
        buyer.pause(0.01 + 0.04 * buyer.chance("reading"))
        buyer.act("confirm", hold=int(answer.created))


HABIT = Habit(
    name="eager",
    sentence="Takes a seat and confirms it a moment later.",
    opening="hold",
    then=_then,
    operations_max=2,
)
