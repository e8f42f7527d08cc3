"""Which transactions a snapshot saw, by the 32-bit transaction ids that the trail carries."""

from __future__ import annotations

from typing import Self

import msgspec

_WRAP = 1 << 32


class Snapshot(msgspec.Struct, frozen=True):
    """A pg_current_snapshot(): everything below `xmin` is over, nothing from `xmax` on, nor any of `running`."""

    xmin: int
    xmax: int
    running: frozenset[int]

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `xmin:xmax:xip,xip…`, all 64-bit."""
        xmin, xmax, running = text.split(":")
        return cls(int(xmin), int(xmax), frozenset(int(xid) for xid in running.split(",") if xid))

    def sees(self, xid: int) -> bool:
        """Tell whether a *committed* transaction was visible; `xid` is its lower 32 bits, at most 2³¹ away."""
        full = self.xmax + (xid - self.xmax + _WRAP // 2) % _WRAP - _WRAP // 2
        return full < self.xmax and full not in self.running
