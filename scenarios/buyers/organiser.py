"""An organiser."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer

PAUSE_SECONDS = 1.2


def _then(buyer: Buyer, _answer: Answer) -> None:
    buyer.pause(PAUSE_SECONDS)
    buyer.act("close")


HABIT = Habit(
    name="organiser",
    sentence="Looks at a show for a while, and then takes it off sale.",
    opening="read_resource",
    then=_then,
    operations_max=2,
)
