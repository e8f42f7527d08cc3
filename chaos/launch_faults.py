"""Faults that a process is started with: what the launcher tampers with, asked of the process itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from chaos import crash_points
from chaos.fault import LEADER, NotSeen, of_group
from chaos.parts import PartError
from chaos.process_faults import ProcessFault
from chaos.values import signed, word

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from chaos.fault import Reach
    from chaos.schedule import Planned

CLOCK_SECONDS_LEAST = 5
_TOLERANCE_SECONDS = 2.0
_CRASH_OPTION = "--crash-at="


@dataclass(frozen=True, slots=True)
class Clock(ProcessFault):
    """The process believes that it is so much later, or earlier, than it is; its monotonic clock is right."""

    kind = "clock"
    span = "throughout"
    roles = ("node", "worker")
    offset_s: int = signed("s")

    def __post_init__(self) -> None:
        """Refuse an offset too small to be told from the time that a log line takes."""
        super(Clock, self).__post_init__()
        if abs(self.offset_s) < CLOCK_SECONDS_LEAST or self.where == LEADER:
            raise ValueError(
                f"{self} must be {CLOCK_SECONDS_LEAST} s or more, of processes known when they start"
            )

    def alone_with(self, reach: Reach) -> frozenset[str]:
        """Share no clock with another such fault."""
        return frozenset(f"the clock of {part.name}" for part in self.candidates(reach))

    async def inject(self, reach: Reach, tag: str) -> None:
        """Do nothing: the process was started so."""

    async def prove(self, reach: Reach, usual_seconds: float) -> str:  # noqa: ARG002 - no matter of time
        """Ask each process for its own clock."""
        seen = []
        for part in self.candidates(reach):
            try:
                lead = await part.wall_clock_lead_seconds()
            except PartError as error:
                raise NotSeen(str(error)) from error
            if abs(lead - self.offset_s) > _TOLERANCE_SECONDS:
                raise NotSeen(f"the clock of {part.name} is {lead:+.1f} s off")
            seen.append(f"the clock of {part.name} is {lead:+.1f} s off")
        return "; ".join(seen)


@dataclass(frozen=True, slots=True)
class CrashAt(ProcessFault):
    """The process kills itself (kill -9) at a call of a function of its own; started again, without that, after the load."""

    kind = "crash_at"
    span = "throughout"
    awaits_victim = True
    roles = ("node", "worker")
    point: str = word()

    def __post_init__(self) -> None:
        """Refuse a point that cannot be read."""
        super(CrashAt, self).__post_init__()
        crash_points.read(self.point)
        if self.where == LEADER:
            raise ValueError(f"{self} must be of processes known when they start")

    async def inject(self, reach: Reach, tag: str) -> None:  # noqa: ARG002 - processes carry no tag
        """Remember whom it may hit: they were started so."""
        await self.take_hold(reach)

    async def prove(self, reach: Reach, usual_seconds: float) -> str:  # noqa: ARG002 - no matter of time
        """See one of them dead."""
        if dead := [part.name for part in reach.held[self].parts if not part.running]:
            return f"{', '.join(dead)} died at {self.point}"
        raise NotSeen(f"nobody has come to {self.point}")


def launch_options(schedule: Iterable[Planned], name: str) -> tuple[str, ...]:
    """Return what `chaos.launch` must be told to start the part of that name as the schedule wants it."""
    options: list[str] = []
    for fault in (planned.fault for planned in schedule if of_group(name, planned.fault.where)):
        if isinstance(fault, Clock):
            options.append(f"--clock-offset={fault.offset_s}")
        if isinstance(fault, CrashAt):
            options.append(f"{_CRASH_OPTION}{fault.point}")
    return tuple(options)


def without_crash_points(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the command that starts the same process again, so that it gets past the point at which it crashed."""
    return tuple(each for each in argv if not each.startswith(_CRASH_OPTION))
