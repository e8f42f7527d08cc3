"""A twin-clicker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer


def _then(buyer: Buyer, _answer: Answer) -> None:
    twins = buyer.at_once("hold", 2, one_key=True)
    made = next((answer.created for answer in twins if answer.outcome is Outcome.OK), None)
    if made is not None:
        buyer.at_once("confirm", 2, one_key=True, hold=int(made))
        buyer.repeat()


HABIT = Habit(
    name="twin_clicker",
    sentence="Looks first, then presses twice at once: one key, two nodes, one seat.",
    opening="read_resource",
    then=_then,
    operations_max=6,
)
