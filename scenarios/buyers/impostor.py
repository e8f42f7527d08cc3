"""An impostor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios import line
from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer


def _then(buyer: Buyer, answer: Answer) -> None:
    stranger = buyer.stranger()
    if answer.outcome is Outcome.OK and answer.created is not None:
        hold = int(answer.created)
        stranger.act("confirm", hold=hold)
        stranger.act("cancel", hold=hold)
        stranger.act("cancel_in_the_name_of", hold=hold, name=buyer.name)
        buyer.act("confirm", hold=hold)
        return
    entry = line.join(buyer)
    if entry is None:
        return
    stranger.act("leave_waitlist", entry=entry)
    offer = line.await_offer(buyer, entry)
    if offer is not None:
        stranger.act("accept_offer", offer=offer)
        stranger.act("decline_offer", offer=offer)
        buyer.act("accept_offer", offer=offer)


HABIT = Habit(
    name="impostor",
    sentence="Reaches for the hold, the place in line and the offer of somebody else, who then uses them; once in that person's name.",
    opening="hold",
    then=_then,
    operations_max=6 + line.OPERATIONS_MAX,
)
