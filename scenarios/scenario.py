"""A scenario as data: a story, what is on sale, the crowd, the faults, and what must hold."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import msgspec

from scenarios.arrivals import Barrier, Schedule

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chaos.faults import Planned
    from checker.brief import Assumption, Threshold

Profile = Literal["smoke", "full"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sale:
    """What is on sale: `resources` of `capacity` each, held for `hold_seconds`, offered to a waiter for `offer_seconds`.

    `owner_limit` bounds the seats of a resource that one owner may have. `lease_seconds` bounds how long work stays with
    whoever took it (a key, the lead, a notification), and with it each transaction; None leaves the target's own times.
    """

    resources: int
    capacity: int
    hold_seconds: float = 480.0
    offer_seconds: float = 300.0
    owner_limit: int | None = None
    lease_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Who comes and when: shares of buyer habits (summing to 1) and a seeded arrival schedule.

    At a barrier all buyers of a race share one habit, dealt race by race. `buyers_max` bounds those who act at once.
    """

    habits: Mapping[str, float]
    arrivals: Schedule
    deadline_seconds: float = 5.0
    buyers_max: int = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One story, played by the bench on `nodes` and so many `workers` of each kind; refused by `scenarios.validation` before anything starts if it cannot mean anything."""

    name: str
    story: str
    sale: Sale
    crowd: Crowd
    invariants: tuple[str, ...]
    assumptions: tuple[Assumption, ...]
    faults: tuple[Planned, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    nodes: int = 2
    workers: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    profile: Profile = "smoke"

    def without_barrier(self) -> Scenario:
        """Return the same story with the buyers of each race one after the other: nothing overlaps, so nothing is proven."""
        pieces = tuple(
            msgspec.structs.replace(piece, apart=True) if isinstance(piece, Barrier) else piece
            for piece in self.crowd.arrivals.pieces
        )
        return replace(self, crowd=replace(self.crowd, arrivals=Schedule(pieces=pieces)))
