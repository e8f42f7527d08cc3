"""What no order can explain, told by counting alone: sound, quick, and far from complete.

At each instant the counter is at least what was answered as taken less all that may have been given, and at most what
may have been taken less what was answered as given.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checker.calls import Call, Moment


def surely_impossible(capacity: int, moments: Sequence[Moment]) -> Call | None:
    """Return the first operation whose answer counting alone refutes, or None; every answer may still be wrong."""
    taken_min = taken_max = given_min = given_max = 0
    highest = _Highest()
    sent_at: dict[int, int] = {}
    for place, (_, answered, op, call) in enumerate(moments):
        if not answered:
            taken_max += call.kind == "take"
            given_max += call.kind == "give"
            sent_at[op] = place
        elif call.kind == "refused":
            if highest.since(sent_at[op]) < capacity:
                return call
            continue
        else:
            taken_min += call.kind == "take"
            given_min += call.kind == "give"
            if taken_min - given_max > capacity or given_min > taken_max:
                return call
        highest.note(place, taken_max - given_min)
    return None


class _Highest:
    """The highest of what was noted since any place: only what no later one reaches is kept."""

    def __init__(self) -> None:
        self._places: list[int] = []
        self._values: list[int] = []

    def note(self, place: int, value: int) -> None:
        while self._values and self._values[-1] <= value:
            self._values.pop()
            self._places.pop()
        self._values.append(value)
        self._places.append(place)

    def since(self, place: int) -> int:
        """Return the highest in force from a place on: also what was noted last before it."""
        found = bisect_left(self._places, place)
        return self._values[found] if found < len(self._values) else -1
