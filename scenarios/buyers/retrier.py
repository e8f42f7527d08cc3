"""A retrier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit
from scenarios.insisting import insist
from scenarios.journal import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scenarios.habit import Answer, Buyer

RETRIES_MAX = 6
PAUSE_SECONDS = 0.03
MISTAKEN_SHARE = 0.3
READING_SECONDS = 0.25


def _then(buyer: Buyer, answer: Answer) -> None:
    held = insist(buyer, answer, _pauses(buyer))
    if held.outcome is Outcome.OK and held.created is not None:
        if buyer.chance("mistake") < MISTAKEN_SHARE:
            buyer.reuse("hold_two")
        # Long enough for an answer to be lost that was on its way when the hold's was not.
        buyer.pause(READING_SECONDS * buyer.chance("reading"))
        insist(buyer, buyer.act("confirm", hold=int(held.created)), _pauses(buyer))


def _pauses(buyer: Buyer) -> Iterator[float]:
    return (PAUSE_SECONDS * 2**retry * (0.5 + buyer.chance(f"retry {retry}")) for retry in range(RETRIES_MAX))


HABIT = Habit(
    name="retrier",
    sentence="Loses patience with a lost answer and asks again under the same key, at another node each time; now and then with another wish.",
    opening="hold",
    then=_then,
    operations_max=2 * (1 + RETRIES_MAX) + 1,
)
