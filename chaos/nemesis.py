"""The nemesis plays a schedule of faults against t0, proves that each landed, and heals on every way out."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Self

from chaos import processes
from chaos.course import BROKEN, Course, FaultRecord
from chaos.schedule import clashing
from chaos.waiting import together

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import TracebackType

    from chaos.fault import Reach
    from chaos.schedule import Planned

__all__ = ["FaultRecord", "Nemesis", "Unavailable"]


_PLAYERS_SECONDS = 60.0
"""How long what plays may take to end, which includes the healing of each of its faults."""


class Unavailable(Exception):  # noqa: N818 - the lab's answer to a wish, not a failure
    """Faults of the schedule cannot be had in this lab; the text says which and why."""


class Contradiction(ValueError):  # noqa: N818 - the answer to a schedule
    """The schedule breaks one thing twice at the same time; the text names the two faults."""


class Nemesis:
    """An `async with` around the load: faults that hold throughout land on entry, and all are healed on exit.

    Entry raises Unavailable for a fault that this lab does not offer, and Unwell when what it is to break does not
    answer beforehand. A fault that cannot be injected, proven or healed raises nothing: its record says so.
    """

    def __init__(self, schedule: Sequence[Planned], reach: Reach) -> None:
        names = [planned.name for planned in schedule]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise Contradiction(f"the schedule holds a fault twice: {', '.join(twice)}")
        if clash := clashing(schedule, reach):
            raise Contradiction(clash)
        self._reach = reach
        self._load_ended = asyncio.Event()
        self._players: set[asyncio.Task[None]] = set()
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

    def load_ended(self) -> None:
        """Stop waiting for conditions: nothing will meet them any more."""
        self._load_ended.set()

    async def play(self, t0_ns: int) -> None:
        """Play what is timed, and return when the last of it was healed; a cancellation heals at once.

        Where a fault waits for a condition, somebody must say when the load has ended.
        """
        player = asyncio.current_task()
        assert player is not None  # noqa: S101 - a coroutine that runs is run by a task
        self._players.add(player)
        try:
            async with asyncio.TaskGroup() as group:
                for course in self._courses:
                    if not course.planned.throughout:
                        group.create_task(course.play(t0_ns, self._load_ended))
        finally:
            self._players.discard(player)

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
        players = tuple(self._players)
        for (
            player
        ) in players:  # whoever started it may not live to await it: no fault comes after the healing
            player.cancel()
        if players:
            await asyncio.wait(players, timeout=_PLAYERS_SECONDS)
        await together(*(course.end() for course in self._courses))
        if any(course.record.injected_ns and not course.record.healed_ns for course in self._courses):
            await self._reset()
        await together(*(course.recover() for course in self._courses))

    async def _reset(self) -> None:
        """Free every link, resume and start every part, as the last resort after single faults could not be healed."""
        if (network := self._reach.network) is not None:
            for link in self._reach.links.values():
                with contextlib.suppress(*BROKEN):  # the records already say what was not healed
                    await network.restore(link.name)
                    await network.clear(link.name, "")
        for part in self._reach.parts.values():
            with contextlib.suppress(*BROKEN):
                if part.running:
                    processes.thaw(part.pid)
                await part.start()
