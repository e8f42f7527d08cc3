"""How the lab's processes fare during a run, ten times a second: processor share and resident memory; and the machine."""

from __future__ import annotations

import asyncio
import contextlib
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from checker.schemas import SAMPLES
from checker.series import Series

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from scenarios.control import Finished, Health

EVERY_SECONDS = 0.1
END_SECONDS = 5.0
PRESSURE = Path("/proc/pressure/cpu")
"""Where Linux tells for how long somebody who could run has waited for a processor, in µs since it started."""


class Samples:
    """The samples of a run as they are taken; those of the load are added when it has spoken."""

    def __init__(self, series: Series) -> None:
        self._series = series
        self._watched: dict[str, psutil.Process] = {}
        self._followed: Callable[[], Mapping[str, int]] = dict
        self._waited: tuple[int, int] | None = None

    def watch(self, processes: Mapping[str, int]) -> None:
        """Watch these processes too (role → pid); one that is gone is left out."""
        for role, pid in processes.items():
            with contextlib.suppress(psutil.Error):
                process = psutil.Process(pid)
                process.cpu_percent()  # the first call only sets the mark that the next is measured from
                self._watched[role] = process

    def follow(self, processes: Callable[[], Mapping[str, int]]) -> None:
        """Watch whoever has a role at the time (role → pid): a process that is started again has another pid."""
        self._followed = processes

    def add_load(self, health: Health) -> None:
        """Note what a load process said of itself."""
        source = f"load/{health.shard}"
        for metric in ("arrivals", "dropped", "lag_p50_us", "lag_p99_us", "lag_max_us", "cpu_share"):
            self._series.append(health.mono_ns, source, metric, float(getattr(health, metric)))

    def add_last_word(self, finished: Finished) -> None:
        """Note how many operations a load process counted: its part of the history must not hold fewer."""
        source = f"load/{finished.shard}"
        self._series.append(finished.ended_ns, source, "operations", float(finished.tally.done))

    def add_admission(self, sent_ns: int, node: str, admission: str) -> None:
        """Note by whom a command that was sent to a node at that instant was let in, as its answer said."""
        self._series.append(sent_ns, f"admission/{node}", admission, 1.0)

    def note(self, source: str, metric: str, value: float) -> None:
        """Note one figure as of now."""
        self._series.append(time.monotonic_ns(), source, metric, value)

    def take(self) -> None:
        """Take one sample of every watched process."""
        for role, pid in self._followed().items():
            if role not in self._watched or self._watched[role].pid != pid:
                self.watch({role: pid})
        now = time.monotonic_ns()
        self._take_of_the_machine(now)
        for role, process in list(self._watched.items()):
            try:
                with process.oneshot():
                    share, resident = process.cpu_percent() / 100, process.memory_info().rss
            except psutil.Error:
                del self._watched[role]
                continue
            self._series.append(now, role, "cpu_share", share)
            self._series.append(now, role, "resident_bytes", float(resident))

    def _take_of_the_machine(self, now: int) -> None:
        """Take the share of the time since the last sample in which somebody waited for a processor."""
        waited_us = pressure_us()
        if waited_us is None:
            return
        if self._waited is not None and now > self._waited[0]:
            then, before_us = self._waited
            share = (waited_us - before_us) * 1_000 / (now - then)
            self._series.append(now, "machine", "cpu_pressure", min(share, 1.0))
        self._waited = (now, waited_us)


def pressure_us() -> int | None:
    """Return for how long somebody has waited for a processor in all, where the system tells."""
    try:
        some = PRESSURE.read_text().splitlines()[0]
        return int(some.rpartition("total=")[2])
    except (OSError, ValueError, IndexError):
        return None


@asynccontextmanager
async def sampling(folder: Path) -> AsyncIterator[Samples]:
    """Write samples.parquet while the block runs."""
    with Series(folder / "samples.parquet", SAMPLES) as series:
        samples = Samples(series)

        async def keep() -> None:
            while True:
                samples.take()
                await asyncio.sleep(EVERY_SECONDS)

        task = asyncio.create_task(keep(), name="samples")
        try:
            yield samples
        finally:
            task.cancel()
            await asyncio.wait({task}, timeout=END_SECONDS)
        if task.done() and not task.cancelled():
            task.result()
