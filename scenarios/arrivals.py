"""When buyers intend to act: open-loop schedules, composed with `+`, and the barrier that races stand at.

Every piece is plain data that travels in the load plan; ids are global (piece << 32 | position), so that any
number of load processes can each play its share of one schedule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from heapq import merge
from typing import TYPE_CHECKING

import msgspec

from scenarios.chance import draw

if TYPE_CHECKING:
    from collections.abc import Iterator

_SECOND = 1_000_000_000
_PIECE_BITS = 32


@dataclass(frozen=True, slots=True, order=True)
class Arrival:
    """One planned start of a buyer's action: `at_ns` after t0, and its global id."""

    at_ns: int
    id: int


class Barrier(msgspec.Struct, frozen=True, kw_only=True, tag="barrier"):
    """`races` of `width` buyers who leave together, `abreast` of them at a time; with `apart`, one by one instead."""

    races: int
    width: int
    abreast: int = 1
    apart: bool = False

    def refusal(self) -> str | None:
        """Say what is impossible about these numbers, or None."""
        if self.races < 1 or self.width < 2:  # noqa: PLR2004 — a race needs a rival
            return (
                f"a barrier needs at least one race of at least two buyers, not {self.races} of {self.width}"
            )
        if self.abreast < 1:
            return f"at least one race must be run at a time, not {self.abreast}"
        return None


class Burst(msgspec.Struct, frozen=True, kw_only=True, tag="burst"):
    """`count` arrivals scattered evenly at random over the `within_seconds` after `begin_seconds`."""

    count: int
    within_seconds: float
    begin_seconds: float = 0.0

    def refusal(self) -> str | None:
        """Say what is impossible about these numbers, or None."""
        if self.count < 1 or self.within_seconds < 0 or self.begin_seconds < 0:
            return f"a burst needs arrivals and no negative time, not {self.count} in {self.within_seconds} s"
        return None

    def instants(self, seed: int, first: int) -> list[int]:
        """Return the sorted ns after t0."""
        return sorted(
            _ns(self.begin_seconds + self.within_seconds * draw(seed, first + i, "burst"))
            for i in range(self.count)
        )


class Line(msgspec.Struct, frozen=True, kw_only=True, tag="line"):
    """Arrivals whose rate (1/s) runs straight from `rate` to `until_rate` over `seconds`, evenly or as a Poisson process."""

    rate: float
    until_rate: float
    seconds: float
    begin_seconds: float = 0.0
    random: bool = False

    def refusal(self) -> str | None:
        """Say what is impossible about these numbers, or None."""
        if min(self.rate, self.until_rate, self.begin_seconds) < 0 or self.seconds <= 0:
            return f"a rate and a time cannot be negative: {self.rate} to {self.until_rate}/s over {self.seconds} s"
        if self.rate + self.until_rate <= 0:
            return "a line of arrivals needs a rate above zero at one end"
        return None

    def instants(self, seed: int, first: int) -> list[int]:
        """Return the ns after t0: where the integral of the rate passes each whole (or exponentially spaced) count."""
        instants: list[int] = []
        due = 0.0
        while True:
            i = len(instants)
            due = due - math.log1p(-draw(seed, first + i, "gap")) if self.random else i + 0.5
            at = self._reached(due)
            if at is None:
                return instants
            instants.append(_ns(self.begin_seconds + at))

    def _reached(self, due: float) -> float | None:
        slope = (self.until_rate - self.rate) / self.seconds
        if due >= (self.rate + self.until_rate) / 2 * self.seconds:
            return None
        root = math.sqrt(max(self.rate**2 + 2 * slope * due, 0.0))
        return 2 * due / (self.rate + root)


Piece = Barrier | Burst | Line


class Schedule(msgspec.Struct, frozen=True, kw_only=True):
    """Pieces laid over each other; made by the functions below and `+`."""

    pieces: tuple[Piece, ...]

    def __add__(self, other: Schedule) -> Schedule:
        return Schedule(pieces=self.pieces + other.pieces)

    def after(self, seconds: float) -> Schedule:
        """Return the same arrivals, that many seconds later; a barrier cannot be moved (its races follow each other)."""
        return Schedule(pieces=tuple(_moved(piece, seconds) for piece in self.pieces))

    def barriers(self) -> tuple[Barrier, ...]:
        """Return the pieces that are races."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Barrier))

    def refusals(self) -> tuple[str, ...]:
        """Say what is impossible about it; empty when nothing is."""
        if not self.pieces:
            return ("a schedule needs at least one arrival",)
        mixed = ("races at a barrier and open-loop arrivals cannot share a schedule",)
        found = mixed if 0 < len(self.barriers()) < len(self.pieces) else ()
        return found + tuple(said for piece in self.pieces if (said := piece.refusal()))

    def arrivals(self, seed: int, *, shard: int = 0, shards: int = 1) -> Iterator[Arrival]:
        """Yield this shard's open-loop arrivals in order of time; the union over all shards is the same for any number."""
        return merge(*(self._of_piece(number, seed, shard, shards) for number in range(len(self.pieces))))

    def _of_piece(self, number: int, seed: int, shard: int, shards: int) -> Iterator[Arrival]:
        piece = self.pieces[number]
        if isinstance(piece, Barrier):
            return
        first = number << _PIECE_BITS
        for position, at_ns in enumerate(piece.instants(seed, first)):
            if position % shards == shard:
                yield Arrival(at_ns, first + position)


def barrier(races: int, *, width: int, abreast: int = 1) -> Schedule:
    """Races, `abreast` of them at a time; the buyers of a race leave together."""
    return Schedule(pieces=(Barrier(races=races, width=width, abreast=abreast),))


def burst(count: int, *, within: float) -> Schedule:
    """`count` arrivals scattered at random over `within` seconds."""
    return Schedule(pieces=(Burst(count=count, within_seconds=within),))


def steady(*, rate: float, seconds: float) -> Schedule:
    """Evenly spaced arrivals."""
    return Schedule(pieces=(Line(rate=rate, until_rate=rate, seconds=seconds),))


def poisson(*, rate: float, seconds: float) -> Schedule:
    """Arrivals that know nothing of each other: exponential gaps."""
    return Schedule(pieces=(Line(rate=rate, until_rate=rate, seconds=seconds, random=True),))


def ramp(*, rate: float, until: float, seconds: float) -> Schedule:
    """Arrivals of a Poisson process whose rate runs straight from `rate` to `until`."""
    return Schedule(pieces=(Line(rate=rate, until_rate=until, seconds=seconds, random=True),))


def spike(*, rate: float, peak: float, seconds: float) -> Schedule:
    """Up to `peak` in a fifth of the time and back down over the rest: a rush that ebbs away."""
    rise = seconds / 5
    return ramp(rate=rate, until=peak, seconds=rise) + ramp(
        rate=peak, until=rate, seconds=seconds - rise
    ).after(rise)


def ladder(*rates: float, seconds_each: float) -> Schedule:
    """Poisson steps, one rate after the other."""
    steps = [poisson(rate=rate, seconds=seconds_each).after(i * seconds_each) for i, rate in enumerate(rates)]
    return Schedule(pieces=tuple(piece for step in steps for piece in step.pieces))


def _moved(piece: Piece, seconds: float) -> Piece:
    if isinstance(piece, Barrier):
        raise TypeError("the races of a barrier follow each other; they cannot be moved to a later time")
    return msgspec.structs.replace(piece, begin_seconds=piece.begin_seconds + seconds)


def _ns(seconds: float) -> int:
    return int(seconds * _SECOND)
