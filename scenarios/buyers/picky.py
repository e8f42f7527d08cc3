"""A picky buyer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios import line
from scenarios.habit import Habit

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer


def _then(buyer: Buyer, answer: Answer) -> None:
    offer = line.offered(buyer, answer)
    if offer is not None:
        buyer.act("decline_offer", offer=offer)


HABIT = Habit(
    name="picky",
    sentence="Is refused, joins the line, and does not want the seat that is offered.",
    opening="hold",
    then=_then,
    operations_max=2 + line.OPERATIONS_MAX,
)
