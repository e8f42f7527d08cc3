"""A picky buyer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios import line
from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer


def _then(buyer: Buyer, answer: Answer) -> None:
    if answer.outcome is not Outcome.FAIL:
        return
    entry = line.join(buyer)
    offer = line.await_offer(buyer, entry) if entry is not None else None
    if offer is not None:
        buyer.act("decline_offer", offer=offer)


HABIT = Habit(
    name="picky",
    sentence="Is refused, joins the line, and does not want the seat that is offered.",
    opening="hold",
    then=_then,
    operations_max=2 + line.OPERATIONS_MAX,
)
