"""The nemesis plays a schedule of faults against t0, proves that each landed, and heals on every way out."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Self

import msgspec

from chaos.network import NetworkError
from chaos.schedule import NotSeen, Unwell, clashing
from chaos.waiting import sleep_until, sought, together

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from chaos.schedule import Planned, Reach

PROOF_SECONDS = 3.0  # some connections can miss a new toxic, so a proof is sought again until then
RECOVERY_SECONDS = 5.0  # after healing, the link must answer by then
_HEAL_TRIES = 3


class FaultRecord(msgspec.Struct, kw_only=True):
    """What became of one fault; instants are CLOCK_MONOTONIC ns and None where it did not come to that.

    `landed_ns` is when `proof` was seen; `error` says why a fault did not land, did not heal, or was not well after.
    """

    fault: str
    kind: str
    where: str
    planned_ns: int | None = None
    injected_ns: int | None = None
    landed_ns: int | None = None
    healed_ns: int | None = None
    proof: str | None = None
    error: str | None = None


class Unavailable(Exception):  # noqa: N818 - the lab's answer to a wish, not a failure
    """Faults of the schedule cannot be had in this lab; the text says which and why."""


class Nemesis:
    """An `async with` around the load: faults that hold throughout land on entry, and all are healed on exit.

    Entry raises Unavailable for a fault that this lab does not offer, and Unwell when what it is to break does not
    answer beforehand. A fault that cannot be injected, proven or healed raises nothing: its record says so.
    """

    def __init__(self, schedule: Sequence[Planned], reach: Reach) -> None:
        names = [planned.name for planned in schedule]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"the schedule holds a fault twice: {', '.join(twice)}")
        if clash := clashing(schedule, reach):
            raise ValueError(clash)
        self._reach = reach
        self._courses = [
            Course(planned, reach, f"f{place}.") for place, planned in enumerate(schedule, start=1)
        ]

    @property
    def records(self) -> list[FaultRecord]:
        """What has become of every fault so far, in the order of the schedule."""
        return [course.record for course in self._courses]

    async def __aenter__(self) -> Self:
        """Check what will be broken, then break what is to be broken throughout."""
        if missing := [reason for course in self._courses if (reason := course.unavailable())]:
            raise Unavailable("; ".join(missing))
        for course in self._courses:
            await course.check()
        try:
            async with asyncio.TaskGroup() as group:
                for course in self._courses:
                    if course.planned.throughout:
                        group.create_task(course.begin())
        except BaseException:
            await self._heal()
            raise
        return self

    async def play(self, t0_ns: int) -> None:
        """Play what is timed, and return when the last of it was healed; a cancellation heals at once."""
        async with asyncio.TaskGroup() as group:
            for course in self._courses:
                if not course.planned.throughout:
                    group.create_task(course.play(t0_ns))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Heal whatever still is broken, also when cancelled meanwhile."""
        await self._heal()

    async def _heal(self) -> None:
        """Heal to the end, and only then let a cancellation go on; the proxy's own deadlines bound it."""
        healing = asyncio.ensure_future(self._heal_all())
        cancelled: asyncio.CancelledError | None = None
        while not healing.done():
            try:
                await asyncio.wait({healing})
            except asyncio.CancelledError as order:
                cancelled = order
        healing.result()
        if cancelled is not None:
            raise cancelled

    async def _heal_all(self) -> None:
        await together(*(course.end() for course in self._courses))
        if any(course.record.injected_ns and not course.record.healed_ns for course in self._courses):
            await self._reset()
        await together(*(course.recover() for course in self._courses))

    async def _reset(self) -> None:
        """Free every link of this lab, as the last resort after single faults could not be healed."""
        if (network := self._reach.network) is not None:
            for link in self._reach.links.values():
                with contextlib.suppress(NetworkError):  # the records already say what was not healed
                    await network.restore(link.name)
                    await network.clear(link.name, "")


class Course:
    """One fault from its plan to its healing."""

    def __init__(self, planned: Planned, reach: Reach, tag: str) -> None:
        fault = planned.fault
        self.planned = planned
        self.record = FaultRecord(fault=planned.name, kind=fault.kind, where=fault.where)
        self._reach = reach
        self._tag = tag
        self._usual_seconds = 0.0
        self._begun = False
        self._ending: asyncio.Task[None] | None = None

    def unavailable(self) -> str:
        """Say why this lab does not offer the fault; empty when it does."""
        return self.planned.fault.unavailable(self._reach)

    async def check(self) -> None:
        """Find well what is to be broken. Raises Unwell."""
        self._usual_seconds = await self.planned.fault.check(self._reach)

    async def play(self, t0_ns: int) -> None:
        """Begin and end by the clock."""
        self.record.planned_ns = t0_ns + int(self.planned.seconds * 1e9)
        until_ns = self.record.planned_ns + int(self.planned.heal_after * 1e9)
        await sleep_until(self.record.planned_ns)
        try:
            await self.begin(within_seconds=max(0.0, (until_ns - time.monotonic_ns()) / 1e9))
            await sleep_until(until_ns)
        finally:
            await self.end()

    async def begin(self, *, within_seconds: float = PROOF_SECONDS) -> None:
        """Inject the fault and look for its proof until the time is up."""
        if self.record.planned_ns is None:
            self.record.planned_ns = time.monotonic_ns()
        self._begun = True
        try:
            await self.planned.fault.inject(self._reach, self._tag)
        except (NetworkError, OSError) as error:
            self._note(f"not injected: {error}")
            return
        self.record.injected_ns = time.monotonic_ns()
        try:
            self.record.proof = await sought(self._look, within_seconds=min(within_seconds, PROOF_SECONDS))
            self.record.landed_ns = time.monotonic_ns()
        except (NotSeen, OSError) as last:
            self._note(f"not proven: {last}")

    async def end(self) -> None:
        """Heal the fault once, however often this is called, and whoever is cancelled meanwhile."""
        if self._begun:
            if self._ending is None:
                self._ending = asyncio.create_task(self._end())
            await asyncio.shield(self._ending)

    async def _end(self) -> None:
        for left in reversed(range(_HEAL_TRIES)):
            try:
                await self.planned.fault.heal(self._reach, self._tag)
                self.record.healed_ns = time.monotonic_ns()
                break
            except (NetworkError, OSError) as error:
                if not left:
                    self._note(f"not healed: {error}")

    async def recover(self) -> None:
        """Find well again what was broken; asked once everything is healed, as faults may share a link."""
        if self._begun:
            try:
                await sought(self._well, within_seconds=RECOVERY_SECONDS)
            except (NotSeen, Unwell, OSError) as error:
                self._note(f"not well after healing: {error}")

    async def _look(self) -> str:
        return await self.planned.fault.prove(self._reach, self._usual_seconds)

    async def _well(self) -> str:
        await self.planned.fault.check(self._reach)
        return "well"

    def _note(self, text: str) -> None:
        self.record.error = text if self.record.error is None else f"{self.record.error}; {text}"
