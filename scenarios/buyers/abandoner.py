"""An abandoner."""

from __future__ import annotations

from scenarios.habit import Habit

HABIT = Habit(
    name="abandoner", sentence="Takes a seat and walks away, so that it can only expire.", opening="hold"
)
