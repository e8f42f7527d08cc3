"""An order that explains all calls, looked for in one pass: where it is found nothing need be searched.

Nothing takes effect before an answer needs it to have; but where the counter could just be full for the last time before
seats are given back, and somebody under way is to be refused, it is filled first. That is nearly always right.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checker.calls import Moment


def is_explained(capacity: int, moments: Sequence[Moment]) -> bool:
    """Tell whether an order was found; False says nothing."""
    order = _Order(capacity)
    return all(order.answer(moment) if moment[1] else order.ask(moment) for moment in moments)


class _Order:
    """How the counter stands, what is under way by the time of its answer, and who is still to see it full."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._taken = 0
        self._takes = _Pending()
        self._gives = _Pending()
        self._to_be_refused: set[int] = set()

    def ask(self, moment: Moment) -> bool:
        """Note what is under way."""
        _, _, op, call = moment
        if call.kind == "refused":
            if self._taken != self._capacity:
                self._to_be_refused.add(op)
        else:
            (self._takes if call.kind == "take" else self._gives).add(op, call.done_ns)
        return True

    def answer(self, moment: Moment) -> bool:
        """Bring about what an answer tells; False where that cannot be."""
        _, _, op, call = moment
        if call.kind == "refused":
            return op not in self._to_be_refused or self._fill()
        if call.kind == "take":
            return not self._takes.awaits(op) or (
                (self._taken < self._capacity or self._give()) and self._take(op)
            )
        return not self._gives.awaits(op) or ((self._taken > 0 or self._take()) and self._give(op))

    def _take(self, op: int | None = None) -> bool:
        if self._taken == self._capacity or not self._takes.use(op):
            return False
        self._taken += 1
        if self._taken == self._capacity:
            self._to_be_refused.clear()
        return True

    def _give(self, op: int | None = None) -> bool:
        if self._to_be_refused and self._taken + len(self._takes) == self._capacity:
            self._fill()
        if self._taken == 0 or not self._gives.use(op):
            return False
        self._taken -= 1
        return True

    def _fill(self) -> bool:
        if self._taken + len(self._takes) < self._capacity:
            return False
        while self._taken < self._capacity:
            self._take()
        self._to_be_refused.clear()
        return True


class _Pending:
    """Calls of one kind that have not taken effect: the one to be answered first goes first, those never told of last."""

    def __init__(self) -> None:
        self._queue: list[tuple[float, int]] = []
        self._there: set[int] = set()

    def __len__(self) -> int:
        return len(self._there)

    def add(self, op: int, done_ns: int | None) -> None:
        heappush(self._queue, (float("inf") if done_ns is None else done_ns, op))
        self._there.add(op)

    def awaits(self, op: int) -> bool:
        """Tell whether one has not taken effect yet."""
        return op in self._there

    def use(self, op: int | None) -> bool:
        """Let one take effect, or the first; False where there is none."""
        if op is None:
            while self._queue:
                _, op = heappop(self._queue)
                if op in self._there:
                    break
        if op not in self._there:
            return False
        self._there.discard(op)
        return True
