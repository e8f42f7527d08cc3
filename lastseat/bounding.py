"""A turn has a bound: one that hangs ends with the name of the phase it hung in, never in silence."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, TypeVar

from lastseat.errors import LabError
from lastseat.run import DRAIN_SECONDS, SETTLE_SECONDS, STATE_SECONDS
from scenarios.plan import extent, load_seconds

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from lastseat.live import Progress
    from scenarios.scenario import Scenario

Result = TypeVar("Result")

SPARE_SECONDS = 300.0
"""For what comes before the load and after it, each part of which has a bound of its own."""
END_SECONDS = 90.0
"""How long a turn that is ended may take to heal and to end what it started."""


class Hung(LabError):  # noqa: N818 - says what is the case
    """A turn did not end when it was told to: what it holds of the lab is not free for another."""


def turn_seconds(scenario: Scenario, seed: int) -> float:
    """Return far more than a turn takes: the bounds of its load, of its faults and of what comes after them, and some to spare."""
    arrivals, last_seconds = extent(scenario.crowd.arrivals, seed)
    faults_seconds = sum(
        planned.seconds + planned.heal_after
        for planned in scenario.faults
        if not math.isinf(planned.heal_after)
    )
    after_seconds = SETTLE_SECONDS + STATE_SECONDS + DRAIN_SECONDS
    return load_seconds(arrivals, last_seconds) + faults_seconds + after_seconds + SPARE_SECONDS


class Phases:
    """Passes on what a run tells, and remembers the phase it is in."""

    def __init__(self, progress: Progress) -> None:
        self.now = "its beginning"
        self._progress = progress
        self.load, self.faults, self.detail = progress.load, progress.faults, progress.detail
        self.result, self.notice = progress.result, progress.notice

    def phase(self, words: str) -> None:
        """Remember the phase, and pass it on."""
        self.now = words
        self._progress.phase(words)


async def within(
    work: Coroutine[Any, Any, Result], *, seconds: float, phases: Phases, name: str, where: str
) -> Result:
    """Do it; raises LabError where it is not done in time, and Hung where it does not even end then.

    A cancellation ends it, too, and waits until it has ended, as long as a turn may take to heal.
    """
    task = asyncio.create_task(work, name=name)
    try:
        await asyncio.wait({task}, timeout=seconds)
        in_time, phase = task.done(), phases.now
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=END_SECONDS)
    if in_time:
        return task.result()
    said = f"{name} was not done within {seconds:g} s; it hung in this phase: {phase}"
    remedy = "its logs/ tell what each process said"
    if not task.done():
        raise Hung(
            f"{said}, and did not end when told to, so nothing more is played in this lab",
            where=where,
            remedy=remedy,
        )
    cause = None if task.cancelled() else task.exception()
    raise LabError(said, where=where, remedy=remedy) from cause
