"""What is measured in turns, round by round, and the table of medians and ratios that comes of it."""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from machine import Neighbours

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

GOAL_SEPARATE: Final = 0.6
GOAL_TOGETHER: Final = 3.0


@dataclass(slots=True)
class Kind:
    """One thing that is measured: a name, how one round of it is had, and what its rounds came to."""

    name: str
    once: Callable[[], Awaitable[float]]
    rounds: list[float] = field(default_factory=list)
    node_micros: list[float] = field(default_factory=list)
    all_micros: list[float] = field(default_factory=list)
    others_cores: list[float] = field(default_factory=list)

    async def play(self) -> None:
        """Play one round more."""
        neighbours = Neighbours()
        self.rounds.append(await self.once())
        own_cores, others_cores = neighbours.cores()
        self.all_micros.append(own_cores / self.rounds[-1] * 1e6)
        self.others_cores.append(others_cores)

    def forget(self) -> None:
        """Begin anew: what was played until now was for warming up."""
        for each in (self.rounds, self.node_micros, self.all_micros, self.others_cores):
            each.clear()

    @property
    def median(self) -> float:
        """The median of its rounds."""
        return statistics.median(self.rounds)


def show(measured: dict[str, Kind]) -> None:
    """Print medians, rounds and ratios."""
    print(f"{'':24} {'a second':>8} {'CPU a hold':>11} {'of it node':>11} {'others used':>12}   rounds")
    for kind in measured.values():
        cpu = f"{statistics.median(kind.all_micros):.0f} µs"
        node = f"{statistics.median(kind.node_micros):.0f} µs" if kind.node_micros else ""
        others = f"{statistics.median(kind.others_cores):.1f} cores"
        rounds = " ".join(f"{each:.0f}" for each in kind.rounds)
        print(f"{kind.name:24} {kind.median:8.0f} {cpu:>11} {node:>11} {others:>12}   {rounds}")
    print()
    for name, over, under, goal in (
        ("separate commits, hot row, of pgbench", "hot", "pgbench hot", GOAL_SEPARATE),
        ("separate commits, spread, of pgbench", "spread", "pgbench spread", GOAL_SEPARATE),
        ("decided together, hot row, of separate commits", "together", "hot", GOAL_TOGETHER),
        ("decided together, hot row, of pgbench", "together", "pgbench hot", None),
    ):
        pairs = zip(measured[over].rounds, measured[under].rounds, strict=True)
        each = sorted(ours / theirs for ours, theirs in pairs)
        goal_text = "" if goal is None else f", goal ≥ {goal:g}"
        ratio = measured[over].median / measured[under].median
        print(f"{name:48} {ratio:5.2f}   (rounds {each[0]:.2f} to {each[-1]:.2f}{goal_text})")
