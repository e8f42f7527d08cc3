"""An insistent buyer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit
from scenarios.insisting import insist
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scenarios.habit import Answer, Buyer

RETRIES_MAX = 14
"""Nearly three seconds: longer than whoever died with the command in hand may keep it."""
PAUSE_SECONDS = 0.2


def _then(buyer: Buyer, answer: Answer) -> None:
    held = insist(buyer, answer, _pauses(buyer))
    if held.outcome is Outcome.OK and held.created is not None:
        told = insist(buyer, buyer.act("confirm", hold=int(held.created)), _pauses(buyer))
        if told.outcome is Outcome.OK:
            buyer.repeat()


def _pauses(buyer: Buyer) -> Iterator[float]:
    return (PAUSE_SECONDS * (0.75 + 0.5 * buyer.chance(f"insist {retry}")) for retry in range(RETRIES_MAX))


HABIT = Habit(
    name="insistent",
    sentence="Asks five times a second under the same key, at one node and then the next, until it is told; and once more, to be sure.",
    opening="hold",
    then=_then,
    operations_max=2 * (1 + RETRIES_MAX) + 1,
)
