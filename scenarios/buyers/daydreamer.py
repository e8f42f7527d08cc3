"""A daydreamer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios import line
from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer

EARLIEST_SECONDS = 0.1
SPREAD_SECONDS = 0.6


def _then(buyer: Buyer, answer: Answer) -> None:
    if answer.outcome is not Outcome.FAIL:
        return
    entry = line.join(buyer)
    offer = line.await_offer(buyer, entry) if entry is not None else None
    if offer is not None:
        buyer.pause(EARLIEST_SECONDS + SPREAD_SECONDS * buyer.chance("dream"))
        buyer.act("accept_offer", offer=offer)


HABIT = Habit(
    name="daydreamer",
    sentence="Is offered a seat, thinks of something else, and accepts: just in time, or just too late.",
    opening="hold",
    then=_then,
    operations_max=2 + line.OPERATIONS_MAX,
)
