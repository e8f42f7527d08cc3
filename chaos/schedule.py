"""When faults are to happen: at an instant, again and again, once a condition is met, or throughout."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chaos.fault import Fault, Reach

_EVERY_MAX = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A probe of the runner, by name, and the share from 0 to 1 that it must have reached."""

    probe: str
    at_least: float

    def __post_init__(self) -> None:
        """Refuse what is met at once or never."""
        if not 0 < self.at_least <= 1:
            raise ValueError(f"{self.probe} must be waited for until above 0 % and at most 100 %")

    def __str__(self) -> str:
        """Spell it as the command line takes it."""
        return f"{self.probe}={self.at_least * 100:g}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A fault on the schedule: `seconds` after t0, or once `after` is met; healed `heal_after` seconds later.

    It lasts so long from when it is in place, which on a busy machine is later than planned. One that is never healed
    by the clock holds throughout: it lands before the load starts and is healed after it. A fault that is over at once
    has a `heal_after` of 0.
    """

    fault: Fault
    seconds: float = 0.0
    heal_after: float = math.inf
    after: Condition | None = None

    def __post_init__(self) -> None:
        """Refuse instants before t0, and durations that the fault cannot have."""
        span = self.fault.span
        if span == "moment" and self.heal_after:
            raise ValueError(f"{self.fault} is over at once: it needs an instant, and no duration")
        if span == "throughout" and not self.throughout:
            raise ValueError(
                f"{self.fault} is set when the process starts: it can only hold for the whole load"
            )
        if self.seconds < 0 or (span != "moment" and not self.heal_after > 0):
            raise ValueError(f"{self.fault} must begin at or after 0 s and last longer than 0 s")
        if self.heal_after < self.fault.seconds_least:
            raise ValueError(
                f"{self.fault} must last {self.fault.seconds_least:g} s or more: sooner nothing could show it"
            )
        if self.after is not None and math.isinf(self.heal_after):
            raise ValueError(f"{self.fault} must be healed at some time after {self.after}")

    @property
    def throughout(self) -> bool:
        """Whether it holds for the whole load."""
        return math.isinf(self.heal_after)

    @property
    def ends(self) -> float:
        """When it is healed, in seconds after t0; a condition may be met at any time."""
        return math.inf if self.after is not None else self.seconds + self.heal_after

    @property
    def name(self) -> str:
        """The fault's spelling with its times; unique on a schedule."""
        if self.throughout:
            return str(self.fault)
        length = f"+{self.heal_after:g}s" if self.heal_after else ""
        return f"{self.fault}@{self.after or f'{self.seconds:g}s'}{length}"


def at(*, seconds: float, inject: Fault, heal_after: float | None = None) -> Planned:
    """Plan a fault for an instant after t0, and its healing unless it is over at once."""
    return Planned(fault=inject, seconds=seconds, heal_after=_length(inject, heal_after))


def when(probe: str, *, at_least: float, inject: Fault, heal_after: float | None = None) -> Planned:
    """Plan a fault for when a probe of the runner has reached a share: `progress` of the load, `sold` of the capacity."""
    after = Condition(probe=probe, at_least=at_least)
    return Planned(fault=inject, heal_after=_length(inject, heal_after), after=after)


def every(
    *, seconds: float, first: float, until: float, inject: Fault, heal_after: float | None = None
) -> tuple[Planned, ...]:
    """Plan a fault again and again, `seconds` apart, from `first` on and before `until` after t0: flapping."""
    if not (seconds > 0 and (until - first) / seconds <= _EVERY_MAX):
        raise ValueError(f"{inject} cannot come every {seconds:g} s from {first:g} s to {until:g} s")
    if heal_after is not None and heal_after >= seconds:
        raise ValueError(f"{inject} is not healed before it comes again, {seconds:g} s later")
    times = itertools.takewhile(lambda time: time < until, (first + seconds * n for n in itertools.count()))
    return tuple(at(seconds=round(time, 9), inject=inject, heal_after=heal_after) for time in times)


def throughout(*, inject: Fault) -> Planned:
    """Plan a fault that holds for the whole load."""
    return Planned(fault=inject)


def _length(fault: Fault, heal_after: float | None) -> float:
    if heal_after is not None and math.isinf(heal_after):
        raise ValueError(f"{fault} must be healed at some time; use throughout() for the whole load")
    if heal_after is None and fault.span != "moment":
        raise ValueError(f"{fault} needs heal_after: the seconds after which it is healed")
    return heal_after or 0.0


def clashing(schedule: Sequence[Planned], reach: Reach) -> str:
    """Name two faults that may not break one thing at the same time, as healing one would heal the other; empty without such."""
    alone = [(planned, planned.fault.alone_with(reach)) for planned in schedule]
    for (one, of_one), (other, of_other) in itertools.combinations(alone, 2):
        apart = one.ends <= other.seconds or other.ends <= one.seconds
        shared = of_one & of_other
        if shared and not apart:
            return f"{one.name} and {other.name} break {', '.join(sorted(shared))} at the same time"
    return ""
