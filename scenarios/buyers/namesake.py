"""A namesake."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.habit import Habit

if TYPE_CHECKING:
    from scenarios.habit import Answer, Buyer


def _then(buyer: Buyer, _answer: Answer) -> None:
    buyer.stranger(knows_key=True).reuse("hold")


HABIT = Habit(
    name="namesake",
    sentence="Asks for a seat, and somebody else happens to use the same key for the same wish.",
    opening="hold",
    then=_then,
    operations_max=2,
)
