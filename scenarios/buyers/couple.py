"""A couple."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer

CONFIRMING_SHARE = 0.35


def _then(buyer: Buyer, answer: Answer) -> None:
    if (
        answer.outcome is Outcome.OK
        and answer.created is not None
        and buyer.chance("mood") < CONFIRMING_SHARE
    ):
        buyer.act("confirm", hold=int(answer.created))


HABIT = Habit(
    name="couple",
    sentence="Takes two seats or none, and mostly forgets about them, so that both can only expire.",
    opening="hold_two",
    then=_then,
    operations_max=2,
)
