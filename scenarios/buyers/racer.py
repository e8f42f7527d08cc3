"""A racer."""

from __future__ import annotations

from scenarios.habit import Habit

HABIT = Habit(name="racer", sentence="Asks for a seat once, and lives with the answer.", opening="hold")
