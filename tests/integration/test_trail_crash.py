"""The trail, the clocks and the snapshots while PostgreSQL crashes, pauses, waits for a ghost, or cannot decode."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import TYPE_CHECKING, Any

import asyncpg
import duckdb
import pyarrow.parquet as pq
import pytest

from checker import snapshots, state
from checker.clocks import POSTGRES, RUNNER, Clocks, Reading
from checker.session import attempts
from checker.trail import NoTrailError, Pace, Trail, TrailStatus, polling, read_record
from checker.trail.completeness import differences
from checker.trail.spool import frames
from lastseat.lab import Lab

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

NOTES: dict[str, tuple[str, ...]] = {"notes": ("id",)}
BRISK = Pace(poll_seconds=0.05)
PEEK = (
    "SELECT data FROM pg_logical_slot_get_binary_changes('naive', NULL, NULL, 'proto_version', '1', "
    "'publication_names', 'naive')"
)


@pytest.fixture(scope="module")
async def breakable(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """A lab of this file's own: its PostgreSQL is broken on purpose."""
    async with Lab.start(folder=tmp_path_factory.mktemp("broken"), with_toxiproxy=False) as lab:
        yield lab


@pytest.fixture
async def dsn(breakable: Lab, request: pytest.FixtureRequest) -> str:
    dsn = await breakable.create_database(f"t{abs(hash(request.node.name))}")
    await execute(dsn, "CREATE TABLE notes (id integer PRIMARY KEY, word text)")
    return dsn


async def execute(dsn: str, *statements: str) -> None:
    connection = await asyncpg.connect(dsn)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


async def insert(dsn: str, *ids: int) -> None:
    await execute(dsn, *(f"INSERT INTO notes VALUES ({number})" for number in ids))


async def until(holds: Callable[[], Awaitable[object]], what: str, within_seconds: float = 10.0) -> None:
    try:
        async with asyncio.timeout(within_seconds):
            async for _ in attempts(every_seconds=0.02):
                if await holds():
                    return
    except TimeoutError:
        raise AssertionError(f"{what} did not happen within {within_seconds:g} s") from None


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return read


def ids(folder: Path, part: str) -> list[str]:
    return [row["new_id"] for row in rows(folder / part, "notes")]


def incomplete(folder: Path) -> list[object]:
    with duckdb.connect() as connection:
        return list(differences(connection, folder, "notes", ("id",)))


async def test_after_a_crash_a_slot_gives_again_what_was_read(breakable: Lab, dsn: str) -> None:
    await execute(
        dsn,
        "CREATE PUBLICATION naive FOR TABLE notes",
        "SELECT pg_create_logical_replication_slot('naive', 'pgoutput')",
    )
    await insert(dsn, 1)
    connection = await asyncpg.connect(dsn)
    assert len(await connection.fetch(PEEK)) == 4
    assert len(await connection.fetch(PEEK)) == 0
    await breakable.postgres.crash()
    await breakable.postgres.restart()
    connection.terminate()
    connection = await asyncpg.connect(dsn)
    assert len(await connection.fetch(PEEK)) == 4
    await connection.execute("SELECT pg_drop_replication_slot('naive')")
    await connection.close()


async def test_a_crash_costs_the_trail_nothing_and_doubles_nothing(
    breakable: Lab, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server dies when rows have been spooled and the slot's new position has not reached the disk."""
    async with Trail.open(dsn, NOTES, tmp_path, pace=BRISK) as trail:
        with monkeypatch.context() as before_the_crash:
            before_the_crash.setattr(polling, "_ADVANCE", "SELECT $1::text, $2::pg_lsn")
            await insert(dsn, *range(50))
            await until(lambda: spooled(tmp_path, commits=50), "spooling the first rows")
            await breakable.postgres.crash()
        await breakable.postgres.restart()
        await insert(dsn, *range(50, 60))
        await state.read(dsn, NOTES, tmp_path, deadline_seconds=10)
        await trail.drain(deadline_seconds=20)
        record = trail.to_parquet()
    assert record.status is TrailStatus.DRAINED
    assert record.reconnects >= 1
    assert record.repeated >= 50
    assert ids(tmp_path, "changes") == [str(number) for number in range(60)]
    assert incomplete(tmp_path) == []


async def spooled(folder: Path, *, commits: int) -> bool:
    seen = [frame for frame in frames(folder / "spool" / "trail.bin") if frame.data[:1] == b"C"]
    return len(seen) >= commits


async def test_a_crash_in_the_middle_of_drain_is_survived(breakable: Lab, dsn: str, tmp_path: Path) -> None:
    async with Trail.open(dsn, NOTES, tmp_path, pace=BRISK) as trail:
        await insert(dsn, *range(20))
        await state.read(dsn, NOTES, tmp_path, deadline_seconds=10)
        await breakable.postgres.crash()
        drained = asyncio.create_task(trail.drain(deadline_seconds=20))
        await breakable.postgres.restart()
        assert (await drained).status is TrailStatus.DRAINED
        trail.to_parquet()
    assert incomplete(tmp_path) == []


async def test_a_server_that_does_not_come_back_breaks_the_trail_within_its_bound(
    breakable: Lab, dsn: str, tmp_path: Path
) -> None:
    pace = Pace(poll_seconds=0.05, reconnect_seconds=0.5, close_seconds=0.5)
    async with Trail.open(dsn, NOTES, tmp_path, pace=pace) as trail:
        await insert(dsn, 1)
        await breakable.postgres.crash()
        began = time.monotonic()
        record = await trail.drain(deadline_seconds=30)
        assert time.monotonic() - began < 15
        assert record.status is TrailStatus.BROKEN
        assert "was not back within 0.5 s" in str(record.reason)
        trail.to_parquet()
    await breakable.postgres.restart()
    (left,) = read_record(tmp_path).left_behind
    assert str(record.slot) in left
    await execute(dsn, f"SELECT pg_drop_replication_slot('{record.slot}')")


async def test_a_commit_that_is_written_but_not_yet_visible_is_not_lost_between_base_and_slot(
    dsn: str, tmp_path: Path
) -> None:
    """The commit record of 3 precedes the slot's start, and yet a snapshot taken then does not show the row.

    A commit that waits for a standby which is not there stands still in that gap; the fsync of any commit passes it.
    """
    first, second, ghost = [await asyncpg.connect(dsn) for _ in range(3)]
    for number, writer in enumerate((first, second, ghost), start=1):
        await writer.execute(
            "SET synchronous_commit = local" if writer is not ghost else "SET lock_timeout = 0"
        )
        assert number
    await execute(dsn, "ALTER SYSTEM SET synchronous_standby_names = 'ghost'", "SELECT pg_reload_conf()")
    try:
        await first.execute("BEGIN; INSERT INTO notes VALUES (1)")
        opening = asyncio.create_task(run_briefly(dsn, tmp_path))
        await until(lambda: waiting_for(dsn, first), "the slot's wait for the first transaction")
        await second.execute("BEGIN; INSERT INTO notes VALUES (2)")
        await first.execute("COMMIT")
        await until(lambda: waiting_for(dsn, second), "the slot's wait for the second transaction")
        committing = asyncio.create_task(ghost.execute("INSERT INTO notes VALUES (3)"))
        await until(lambda: waits(dsn, ghost, "SyncRep"), "the third transaction's wait for its standby")
        await second.execute("COMMIT")
        await until(lambda: slot_is_made(dsn), "the making of the slot")
        await asyncio.sleep(0.1)  # time in which a base without the row would have been read
    finally:
        await execute_locally(dsn, "ALTER SYSTEM RESET synchronous_standby_names", "SELECT pg_reload_conf()")
    await committing
    await opening
    assert sorted(ids(tmp_path, "base") + ids(tmp_path, "changes")) == ["1", "2", "3"]
    assert incomplete(tmp_path) == []
    for writer in (first, second, ghost):
        await writer.close()


async def run_briefly(dsn: str, folder: Path) -> None:
    async with Trail.open(dsn, NOTES, folder, pace=Pace(poll_seconds=0.05, create_seconds=20)) as trail:
        await state.read(dsn, NOTES, folder, deadline_seconds=10)
        await trail.drain(deadline_seconds=10)
        trail.to_parquet()


async def execute_locally(dsn: str, *statements: str) -> None:
    await execute(dsn, "SET synchronous_commit = local", *statements)


async def fetchval(dsn: str, query: str, *arguments: object) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(query, *arguments)
    finally:
        await connection.close()


async def waiting_for(dsn: str, writer: asyncpg.Connection) -> object:
    return await fetchval(
        dsn,
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'lastseat trail' "
        "AND $1 = ANY (pg_blocking_pids(pid))",
        writer.get_server_pid(),
    )


async def waits(dsn: str, writer: asyncpg.Connection, event: str) -> object:
    query = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1 AND wait_event = $2"
    return await fetchval(dsn, query, writer.get_server_pid(), event)


async def slot_is_made(dsn: str) -> object:
    query = "SELECT count(confirmed_flush_lsn) FROM pg_replication_slots WHERE database = current_database()"
    return await fetchval(dsn, query)


async def test_snapshots_show_a_commit_and_leave_a_gap_where_the_server_was_away(
    breakable: Lab, dsn: str, tmp_path: Path
) -> None:
    async with snapshots.sampling(dsn, tmp_path) as watch:
        await until(lambda: looked(watch, 20), "twenty samples")
        connection = await asyncpg.connect(dsn)
        async with connection.transaction():
            xid = int(await connection.fetchval("SELECT pg_current_xact_id()::text"))
            before = watch.looks
            await until(lambda: looked(watch, before + 5), "samples while it was open")
        await connection.close()
        after = watch.looks
        await until(lambda: looked(watch, after + 2), "samples of the commit")
        await breakable.postgres.crash()
        await breakable.postgres.restart()
        back = watch.looks
        await until(lambda: looked(watch, back + 5), "samples after the crash")
        assert watch.losses >= 1
    samples = rows(tmp_path, "snapshots")
    assert len(samples) == watch.looks
    assert all(sample["asked_ns"] <= sample["answered_ns"] for sample in samples)
    assert any(
        sample["xmin"] <= xid and (xid in sample["xip"] or sample["xmax"] <= xid) for sample in samples
    )
    assert any(sample["xmax"] > xid and xid not in sample["xip"] for sample in samples)


async def looked(watch: Any, at_least: int) -> bool:
    return bool(watch.looks >= at_least)


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
    family = breakable.postgres.family()
    async with Clocks.open(dsn, tmp_path, every_seconds=0.1), snapshots.sampling(dsn, tmp_path) as watch:
        await until(lambda: looked(watch, 3), "three samples")
        for process in family:
            process.send_signal(signal.SIGSTOP)
        for child in breakable.postgres.family():
            child.send_signal(signal.SIGSTOP)
        try:
            await until(lambda: lost(watch), "giving the session up")
        finally:
            for process in breakable.postgres.family():
                process.send_signal(signal.SIGCONT)
        seen = watch.looks
        await until(lambda: looked(watch, seen + 3), "samples after the pause")
    own = [pair["mono_ns"] for pair in rows(tmp_path, "clocks") if pair["process"] == RUNNER]
    assert own == sorted(own)


async def lost(watch: Any) -> bool:
    return bool(watch.losses)


async def test_without_logical_decoding_the_trail_says_why(breakable: Lab, dsn: str, tmp_path: Path) -> None:
    await execute(dsn, "ALTER SYSTEM SET wal_level = replica")
    await breakable.postgres.stop()
    await breakable.postgres.restart()
    try:
        with pytest.raises(NoTrailError, match="no trail, because wal_level is replica, not logical"):
            async with Trail.open(dsn, NOTES, tmp_path):
                pass
        async with Trail.open(dsn, NOTES, tmp_path, required=False) as trail:
            await insert(dsn, 1)
            await state.read(dsn, NOTES, tmp_path, deadline_seconds=10)
            await trail.drain(deadline_seconds=5)
            trail.to_parquet()
    finally:
        await execute(dsn, "ALTER SYSTEM RESET wal_level")
        await breakable.postgres.stop()
        await breakable.postgres.restart()
    record = read_record(tmp_path)
    assert (record.status, record.reason) == (
        TrailStatus.NONE,
        "no trail, because wal_level is replica, not logical",
    )
    assert ids(tmp_path, "state") == ["1"]
