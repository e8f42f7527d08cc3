"""Somebody who confirms at the last minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer

EARLIEST_SECONDS = 0.25
SPREAD_SECONDS = 0.15


def _then(buyer: Buyer, answer: Answer) -> None:
    if answer.outcome is Outcome.OK and answer.created is not None:
        buyer.pause(EARLIEST_SECONDS + SPREAD_SECONDS * buyer.chance("last minute"))
        buyer.act("confirm", hold=int(answer.created))


HABIT = Habit(
    name="last_minute",
    sentence="Takes a seat, and confirms a little before its time is over: in time, unless something keeps the answer waiting.",
    opening="hold",
    then=_then,
    operations_max=2,
)
