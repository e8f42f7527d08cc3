"""The clocks and the snapshots, also while PostgreSQL crashes or is paused."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import TYPE_CHECKING

import asyncpg

from chaos import processes
from checker import snapshots
from checker.clocks import POSTGRES, RUNNER, Clocks, Reading
from tests.integration.trail.folder import rows
from tests.integration.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    from checker.watch import Watch
    from lastseat.lab import Lab


async def test_snapshots_show_a_commit_and_leave_a_gap_where_the_server_was_away(
    breakable: Lab, dsn: str, tmp_path: Path
) -> None:
    async with snapshots.sampling(dsn, tmp_path) as watch:
        await until(lambda: watch.looks >= 20, "twenty samples")
        connection = await asyncpg.connect(dsn)
        async with connection.transaction():
            xid = int(await connection.fetchval("SELECT pg_current_xact_id()::text"))
            before = watch.looks
            await until(lambda: watch.looks >= before + 5, "samples while it was open")
        await connection.close()
        after = watch.looks
        await until(lambda: watch.looks >= after + 2, "samples of the commit")
        await breakable.postgres.crash()
        await breakable.postgres.restart()
        back = watch.looks
        await until(lambda: watch.looks >= back + 5, "samples after the crash")
        assert watch.losses >= 1
    samples = rows(tmp_path, "snapshots")
    assert len(samples) == watch.looks
    assert all(sample["asked_ns"] <= sample["answered_ns"] for sample in samples)
    assert any(
        sample["xmin"] <= xid and (xid in sample["xip"] or sample["xmax"] <= xid) for sample in samples
    )
    assert any(sample["xmax"] > xid and xid not in sample["xip"] for sample in samples)


async def test_a_session_that_the_server_dismisses_is_lost_and_the_watch_goes_on(
    dsn: str, tmp_path: Path
) -> None:
    """The farewell of a server that ends a session may be read before the session is seen to be closed."""
    async with snapshots.sampling(dsn, tmp_path, every_seconds=0.001) as watch:
        connection = await asyncpg.connect(dsn)
        for dismissals in range(1, 11):
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lastseat snapshots'"
            )
            await until(partial(_lost, watch, dismissals), "losing the session")
            await until(partial(_looked, watch, watch.looks + 2), "looking with another")
        await connection.close()


def _lost(watch: Watch, losses: int) -> bool:
    return watch.losses >= losses


def _looked(watch: Watch, looks: int) -> bool:
    return watch.looks >= looks


async def test_clocks_are_paired_at_the_start_each_tick_and_at_the_end(dsn: str, tmp_path: Path) -> None:
    began = time.monotonic_ns()
    async with Clocks.open(dsn, tmp_path, every_seconds=0.1) as clocks:
        clocks.add("node-a", Reading(1, 2, 3))
        started = time.monotonic_ns()
        await asyncio.sleep(0.35)
        ending = time.monotonic_ns()
    pairs = rows(tmp_path, "clocks")
    assert {pair["process"] for pair in pairs} == {RUNNER, POSTGRES, "node-a"}
    for process in (RUNNER, POSTGRES):
        own = [pair for pair in pairs if pair["process"] == process]
        assert len(own) >= 3
        assert began <= own[0]["mono_ns"] <= started
        assert own[-1]["mono_ns"] >= ending
        assert all(0 <= pair["slack_ns"] < 1_000_000_000 for pair in own)
    offsets = [pair["real_ns"] - pair["mono_ns"] for pair in pairs if pair["process"] != "node-a"]
    slack = max(pair["slack_ns"] for pair in pairs)
    assert max(offsets) - min(offsets) <= 2 * slack + 1_000_000


async def test_a_paused_server_does_not_hold_the_watches_up(breakable: Lab, dsn: str, tmp_path: Path) -> None:
    """Paused sessions neither answer nor break: the watch gives them up, goes on, and ends on time."""
    postmaster = breakable.postgres.child.pid
    async with Clocks.open(dsn, tmp_path, every_seconds=0.1), snapshots.sampling(dsn, tmp_path) as watch:
        await until(lambda: watch.looks >= 3, "three samples")
        await processes.freeze(postmaster)
        try:
            await until(lambda: watch.losses, "giving the session up")
        finally:
            processes.thaw(postmaster)
        seen = watch.looks
        await until(lambda: watch.looks >= seen + 3, "samples after the pause")
    own = [pair["mono_ns"] for pair in rows(tmp_path, "clocks") if pair["process"] == RUNNER]
    assert own == sorted(own)
