"""A latecomer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer

EARLIEST_SECONDS = 0.2
SPREAD_SECONDS = 1.0


def _then(buyer: Buyer, answer: Answer) -> None:
    if answer.outcome is Outcome.OK and answer.created is not None:
        buyer.pause(EARLIEST_SECONDS + SPREAD_SECONDS * buyer.chance("distraction"))
        buyer.act("confirm", hold=int(answer.created))


HABIT = Habit(
    name="latecomer",
    sentence="Takes a seat, is distracted for about a second, and confirms: just in time, or just too late.",
    opening="hold",
    then=_then,
    operations_max=2,
)
