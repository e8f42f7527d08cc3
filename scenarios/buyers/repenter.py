"""A repenter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios import line
from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer

SLEPT_SECONDS = 1.6


def _then(buyer: Buyer, answer: Answer) -> None:
    if answer.outcome is Outcome.OK and answer.created is not None:
        made = buyer.act("confirm", hold=int(answer.created))
    else:
        offer = line.offered(buyer, answer)
        if offer is None:
            return
        made = buyer.act("accept_offer", offer=offer)
    if made.outcome is Outcome.OK and made.created is not None:
        buyer.pause(SLEPT_SECONDS * (0.8 + 0.4 * buyer.chance("slept")))
        buyer.act("cancel_reservation", reservation=int(made.created))


HABIT = Habit(
    name="repenter",
    sentence="Takes a seat, at once or from the line, sleeps on it, and gives it back when the show may be off sale.",
    opening="hold",
    then=_then,
    operations_max=3 + line.OPERATIONS_MAX,
)
