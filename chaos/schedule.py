"""What a fault is, what it may reach, and when it is to happen."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from chaos.network import Link, Network


class NotSeen(Exception):  # noqa: N818 - no error, but an answer: the fault has not landed yet
    """A probe did not see the fault; the text says what it saw instead."""


class Unwell(Exception):  # noqa: N818 - as above: the part of the lab is not well
    """Something that a fault is to break, or has broken, does not answer; the text says what and how."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The part of a lab that faults may touch: its proxied links by name."""

    network: Network | None = None
    links: Mapping[str, Link] = field(default_factory=dict)

    def group(self, where: str) -> tuple[Link, ...]:
        """Find the links called `where`, or of that group: `pg` stands for pg-a, pg-b and pg-workers."""
        return tuple(
            link for name, link in self.links.items() if name == where or name.startswith(f"{where}-")
        )


class Fault(Protocol):
    """One thing to break, as frozen data that knows how to break it, to show that it broke, and to heal it."""

    @property
    def kind(self) -> str:
        """What is done, such as cut or latency."""

    @property
    def where(self) -> str:
        """The link, group of links or process that it is done to."""

    def __str__(self) -> str:
        """Spell the fault as the command line takes it."""

    def unavailable(self, reach: Reach) -> str:
        """Say why it cannot be had in this lab; empty when it can."""

    async def check(self, reach: Reach) -> float:
        """Find what it touches well, and return the usual seconds of a probe. Raises Unwell."""

    async def inject(self, reach: Reach, tag: str) -> None:
        """Break it; what is put in place carries `tag`. Raises NetworkError."""

    async def prove(self, reach: Reach, usual_seconds: float) -> str:
        """Look once whether it has landed, and say what was seen. Raises NotSeen."""

    async def heal(self, reach: Reach, tag: str) -> None:
        """Undo whatever of it is in place; may be called twice. Raises NetworkError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A fault on the schedule: `seconds` after t0, healed `heal_after` seconds later.

    One that is never healed by the clock holds throughout: it lands before the load starts and is healed after it.
    """

    fault: Fault
    seconds: float = 0.0
    heal_after: float = math.inf

    def __post_init__(self) -> None:
        """Refuse instants before t0 and faults that last no time."""
        if not (self.seconds >= 0 and self.heal_after > 0):
            raise ValueError(f"{self.fault} must begin at or after 0 s and last longer than 0 s")

    @property
    def throughout(self) -> bool:
        """Whether it holds for the whole load."""
        return math.isinf(self.heal_after)

    @property
    def ends(self) -> float:
        """When it is healed, in seconds after t0."""
        return self.seconds + self.heal_after

    @property
    def name(self) -> str:
        """The fault's spelling with its times; unique on a schedule."""
        return str(self.fault) if self.throughout else f"{self.fault}@{self.seconds:g}s+{self.heal_after:g}s"


def at(*, seconds: float, inject: Fault, heal_after: float) -> Planned:
    """Plan a fault for an instant after t0, and its healing."""
    if math.isinf(heal_after):
        raise ValueError(f"{inject} must be healed at some time; use throughout() for the whole load")
    return Planned(fault=inject, seconds=seconds, heal_after=heal_after)


def throughout(*, inject: Fault) -> Planned:
    """Plan a fault that holds for the whole load."""
    return Planned(fault=inject)


def clashing(schedule: Sequence[Planned], reach: Reach) -> str:
    """Name two cuts of one link whose times overlap: healing the first would heal the second; empty without such."""
    cuts = [planned for planned in schedule if planned.fault.kind == "cut"]
    for one, other in itertools.combinations(cuts, 2):
        apart = one.ends <= other.seconds or other.ends <= one.seconds
        shared = {link.name for link in reach.group(one.fault.where)}.intersection(
            link.name for link in reach.group(other.fault.where)
        )
        if shared and not apart:
            return f"{one.name} and {other.name} cut {', '.join(sorted(shared))} at the same time"
    return ""
