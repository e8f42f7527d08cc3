"""Chance keyed by what it decides: the same seed and arrival always draw the same number, in any process and order."""

from __future__ import annotations

from bisect import bisect_right
from hashlib import blake2b
from itertools import accumulate
from struct import Struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_SUBJECT = Struct("<qq")
_FULL = float(1 << 64)


def draw(seed: int, subject: int, purpose: str) -> float:
    """Return a number in [0, 1) that depends on the seed, the subject (an arrival or race id) and the purpose alone."""
    digest = blake2b(_SUBJECT.pack(seed, subject), digest_size=8, person=purpose.encode()[:16])
    return (int.from_bytes(digest.digest(), "little") >> 11 << 11) / _FULL


def pick(seed: int, subject: int, purpose: str, count: int) -> int:
    """Return an index below `count`, drawn as in `draw`."""
    return int(draw(seed, subject, purpose) * count)


class Shares:
    """A choice among names by their shares, drawn by key or dealt exactly (largest remainder first)."""

    __slots__ = ("_bounds", "_names", "_shares")

    def __init__(self, shares: Mapping[str, float]) -> None:
        """Take shares that sum to 1; their order decides ties."""
        self._names = tuple(shares)
        self._shares = tuple(shares.values())
        self._bounds = tuple(accumulate(self._shares))[:-1]

    def drawn(self, seed: int, subject: int, purpose: str) -> str:
        """Return the name that chance gives to one subject."""
        return self._names[bisect_right(self._bounds, draw(seed, subject, purpose))]

    def dealt(self, count: int) -> tuple[str, ...]:
        """Return `count` names in turn, so that after any prefix each has its share to within one."""
        owed = [0.0] * len(self._names)
        dealt: list[str] = []
        for _ in range(count):
            owed = [debt + share for debt, share in zip(owed, self._shares, strict=True)]
            first = max(range(len(owed)), key=owed.__getitem__)
            owed[first] -= 1.0
            dealt.append(self._names[first])
        return tuple(dealt)
