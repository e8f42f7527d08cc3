"""What observes a run from outside: its clocks, its snapshots, its processes and its servers' sessions."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checker.clocks import Clocks, Reading
from checker.snapshots import sampling as snapshots
from lastseat.observing import observing
from lastseat.samples import Samples
from lastseat.samples import sampling as samples
from scenarios import history

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from scenarios.load import LoadSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """What observes a run from outside: the clocks and the processes."""

    clocks: Clocks
    samples: Samples

    def note_load(self, summary: LoadSummary, folder: Path) -> None:
        """Keep what the load processes said of themselves, with their clocks, and what answers said of admission."""
        for sent_ns, node, admission in history.admissions(folder):
            self.samples.add_admission(sent_ns, node, admission)
        for health in summary.health:
            self.samples.add_load(health)
            reading = Reading(health.mono_ns, health.real_ns, health.slack_ns)
            self.clocks.add(f"load/{health.shard}", reading)
        for finished in summary.shards:
            self.samples.add_last_word(finished)


@asynccontextmanager
async def watching(dsn: str, folder: Path) -> AsyncIterator[Watch]:
    """Observe clocks, snapshots and processes while the block runs; directly, never through a proxy."""
    async with (
        Clocks.open(dsn, folder) as clocks,
        snapshots(dsn, folder),
        samples(folder) as taken,
        observing(dsn, taken),
    ):
        yield Watch(clocks=clocks, samples=taken)
