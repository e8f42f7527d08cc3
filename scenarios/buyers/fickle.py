"""A fickle buyer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios import line
from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer


def _then(buyer: Buyer, answer: Answer) -> None:
    if answer.outcome is Outcome.OK and answer.created is not None:
        _undo(buyer, buyer.act("confirm", hold=int(answer.created)))
        return
    entry = line.join(buyer)
    if entry is None:
        return
    if buyer.chance("bored") < LEAVING_SHARE:
        buyer.act("leave_waitlist", entry=entry)
        return
    offer = line.await_offer(buyer, entry)
    if offer is not None and buyer.chance("unwilling") < DECLINING_SHARE:
        buyer.act("decline_offer", offer=offer)
    elif offer is not None:
        _undo(buyer, buyer.act("accept_offer", offer=offer))


def _undo(buyer: Buyer, made: Answer) -> None:
    if made.outcome is Outcome.OK and made.created is not None:
        # Long enough for a line to form meanwhile: seats that came back before anybody waited would go to nobody in line.
        buyer.pause(REGRET_SECONDS * buyer.chance("regret"))
        buyer.act("cancel_reservation", reservation=int(made.created))


LEAVING_SHARE = 0.2
DECLINING_SHARE = 0.4
REGRET_SECONDS = 0.15
HABIT = Habit(
    name="fickle",
    sentence="Takes whatever comes and gives it back a moment later: seats, places in line, offers.",
    opening="hold",
    then=_then,
    operations_max=3 + line.OPERATIONS_MAX,
)
