"""A waverer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer

EARLIEST_SECONDS = 0.2
SPREAD_SECONDS = 0.7
TABS = 2


def _then(buyer: Buyer, answer: Answer) -> None:
    if answer.outcome is Outcome.OK and answer.created is not None:
        buyer.pause(EARLIEST_SECONDS + SPREAD_SECONDS * buyer.chance("doubts"))
        buyer.at_once("cancel", TABS, hold=int(answer.created))


HABIT = Habit(
    name="waverer",
    sentence="Takes a seat, wavers, and gives it back in two tabs at once: just in time, or just too late.",
    opening="hold",
    then=_then,
    operations_max=1 + TABS,
)
