"""Faults of processes: stopped, killed, ended, started anew."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from chaos import processes, values
from chaos.fault import LEADER, NotSeen, Unwell, of_group
from chaos.parts import Grip, PartError
from chaos.waiting import together

if TYPE_CHECKING:
    from chaos.fault import Place, Reach, Span
    from chaos.parts import Part

ANSWER_SECONDS = 5.0
SILENCE_SECONDS = 0.25
_SILENT_ROUND_TRIPS = 5
LEADERS = "worker-expiry"  # those who may lead


@dataclass(frozen=True, slots=True)
class ProcessFault:
    """A fault of one part, of a group of them, or of the leader: the expiry worker that holds the lease at that time."""

    kind: ClassVar[str]
    acts_on: ClassVar[Place] = "part"
    span: ClassVar[Span] = "interval"
    awaits_victim: ClassVar[bool] = False
    seconds_least: ClassVar[float] = 0.0
    roles: ClassVar[tuple[str, ...]] = ("node", "worker", "postgres", "redis")
    where: str

    def __post_init__(self) -> None:
        """Refuse values that mean nothing, and parts to which this cannot be done."""
        values.check(self)
        if self.where != LEADER and not any(of_group(self.where, role) for role in self.roles):
            raise ValueError(f"{self.kind} can be done to {', '.join(self.roles)}, not to {self.where!r}")

    def __str__(self) -> str:
        """Spell it as `chaos.faults.parse` reads it."""
        return f"{self.kind}:{self.where}{values.spelled(self)}"

    def candidates(self, reach: Reach) -> tuple[Part, ...]:
        """Find the parts that it may be done to."""
        return reach.parts_of(LEADERS if self.where == LEADER else self.where)

    def alone_with(self, reach: Reach) -> frozenset[str]:
        """Share no part with another such fault."""
        return frozenset(part.name for part in self.candidates(reach))

    def unavailable(self, reach: Reach) -> str:
        """Say that the lab has no such part, or that it is not the lab's to break."""
        if not self.candidates(reach) or (self.where == LEADER and reach.leader is None):
            there = ", ".join(reach.parts) or "none"
            return f"{self} needs a process {self.where!r} that this lab started; there are: {there}"
        return ""

    async def check(self, reach: Reach) -> float:
        """Have every part answer in a new session; return the longest round trip."""
        return max(await together(*(_answer_seconds(part) for part in self.candidates(reach))))

    async def victims(self, reach: Reach) -> str:  # noqa: ARG002 - there is nothing to find
        """Say nothing new: the proof tells the sessions that were open."""
        return ""

    async def heal(self, reach: Reach, tag: str) -> None:  # noqa: ARG002 - processes carry no tag
        """Start again whoever has ended."""
        held = reach.held.get(self)
        if held is not None:
            await together(*(part.start() for part in held.parts))
            await together(*(session.close() for session in held.sessions.values()))
            del reach.held[self]

    async def inject(self, reach: Reach, tag: str) -> None:
        """Break it. Raises PartError."""
        raise NotImplementedError

    async def prove(self, reach: Reach, usual_seconds: float) -> str:
        """Look once. Raises NotSeen."""
        raise NotImplementedError

    async def take_hold(self, reach: Reach) -> Grip:
        """Find whom it is done to now, and remember. Raises PartError."""
        parts = self.candidates(reach)
        if self.where == LEADER and reach.leader is not None:
            leading = await reach.leader()
            parts = tuple(part for part in parts if part.name == leading)
            if not parts:
                raise PartError("nobody holds the lease")
        held = reach.held[self] = Grip(parts=parts)
        return held


@dataclass(frozen=True, slots=True)
class Pause(ProcessFault):
    """The process is stopped (SIGSTOP) with all below it, its connections stay open; resumed at the end."""

    kind = "pause"
    seconds_least = 2 * SILENCE_SECONDS

    async def inject(self, reach: Reach, tag: str) -> None:  # noqa: ARG002 - processes carry no tag
        """Open a session to each, then stop it."""
        held = await self.take_hold(reach)
        for part in held.parts:
            held.notes[part.name] = processes.open_sessions(part.pid)
            try:
                held.sessions[part.name] = await part.converse()
            except Unwell as error:
                raise PartError(str(error)) from error
        await together(*(processes.freeze(part.pid) for part in held.parts))

    async def prove(self, reach: Reach, usual_seconds: float) -> str:
        """See every process stopped, and hear nothing in the session that was open before."""
        held = reach.held[self]
        patience_seconds = max(SILENCE_SECONDS, usual_seconds * _SILENT_ROUND_TRIPS)
        seen: list[str] = []
        for part in held.parts:
            stopped, all_of_them = processes.stopped(part.pid)
            if not stopped or stopped < all_of_them:
                raise NotSeen(f"{part.name}: only {stopped} of {all_of_them} processes are stopped")
            if said := await held.sessions[part.name].hear(patience_seconds):
                raise NotSeen(f"{part.name}: a session that was open before got {said!r}")
            seen.append(
                f"{part.name}: {stopped} stopped{held.notes[part.name]}, an existing one silent for {patience_seconds:g} s"
            )
        return "; ".join(seen)

    async def heal(self, reach: Reach, tag: str) -> None:
        """Resume in reverse order; the sessions are closed."""
        if (held := reach.held.get(self)) is not None:
            for part in held.parts:
                if part.running:
                    processes.thaw(part.pid)
        await super(Pause, self).heal(reach, tag)


@dataclass(frozen=True, slots=True)
class Kill(ProcessFault):
    """The process is killed (kill -9), and started again at the end: the same port and arguments; Redis comes back empty."""

    kind = "kill"
    roles: ClassVar[tuple[str, ...]] = ("node", "worker", "redis")

    async def inject(self, reach: Reach, tag: str) -> None:  # noqa: ARG002 - processes carry no tag
        """Kill and have it reaped."""
        held = await self.take_hold(reach)
        await together(*(self._end(held, part) for part in held.parts))

    async def prove(self, reach: Reach, usual_seconds: float) -> str:  # noqa: ARG002 - no matter of time
        """See that it was reaped."""
        held = reach.held[self]
        if back := [part.name for part in held.parts if part.running]:
            raise NotSeen(f"{', '.join(back)} runs")
        return "; ".join(held.notes[part.name] for part in held.parts)

    async def _end(self, held: Grip, part: Part) -> None:
        was, sessions = part.pid, processes.open_sessions(part.pid)
        how = await self.end(part)
        held.notes[part.name] = f"{part.name} (pid {was}{sessions}) {how}"

    async def end(self, part: Part) -> str:
        """End one part, and say how it did."""
        return await part.kill()


@dataclass(frozen=True, slots=True)
class Crash(Kill):
    """PostgreSQL's processes are all killed at once, and it recovers on the same data; that does not test fsync."""

    kind = "crash"
    roles = ("postgres",)


@dataclass(frozen=True, slots=True)
class Terminate(Kill):
    """The process is asked to end in good order (SIGTERM; PostgreSQL: fast shutdown), and started again at the end."""

    kind = "terminate"
    roles = ProcessFault.roles

    async def end(self, part: Part) -> str:
        """Ask it to end."""
        return await part.terminate()


@dataclass(frozen=True, slots=True)
class Restart(Terminate):
    """The process is asked to end in good order and started again at once; Redis comes back empty."""

    kind = "restart"
    span = "moment"

    async def inject(self, reach: Reach, tag: str) -> None:
        """End it and start it."""
        await super(Restart, self).inject(reach, tag)
        await together(*(part.start() for part in reach.held[self].parts))

    async def prove(self, reach: Reach, usual_seconds: float) -> str:  # noqa: ARG002 - no matter of time
        """See that another process runs in its place."""
        held = reach.held[self]
        if gone := [part.name for part in held.parts if not part.running]:
            raise NotSeen(f"{', '.join(gone)} does not run")
        return "; ".join(f"{held.notes[part.name]}, now pid {part.pid}" for part in held.parts)


async def _answer_seconds(part: Part) -> float:
    """Ask a part in a new session and return the seconds that it took. Raises Unwell."""
    loop = asyncio.get_running_loop()
    session = await part.converse()
    try:
        asked = loop.time()
        if not await session.hear(ANSWER_SECONDS):
            raise Unwell(f"{part.name} does not answer within {ANSWER_SECONDS:g} s")
        return loop.time() - asked
    finally:
        await session.close()
