"""A double-clicker."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer


def _then(buyer: Buyer, answer: Answer) -> None:
    again = buyer.repeat()
    made = again.created or answer.created
    if Outcome.OK in (answer.outcome, again.outcome) and made is not None:
        buyer.act("confirm", hold=int(made))
        buyer.repeat()


HABIT = Habit(
    name="double_clicker",
    sentence="Sends everything twice under the same key, and expects one effect and one answer.",
    opening="hold",
    then=_then,
    operations_max=4,
)
