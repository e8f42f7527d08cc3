"""A careful racer."""

from __future__ import annotations

from scenarios.habit import Habit

HABIT = Habit(
    name="careful_racer",
    sentence="Asks for a seat once, naming the revision that was on the screen.",
    opening="hold_at_revision",
)
