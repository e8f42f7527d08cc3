"""The trail while PostgreSQL crashes."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import asyncpg

from checker import state
from checker.trail import Pace, Trail, TrailStatus, polling, read_record
from tests.integration.trail.folder import BRISK, NOTES, commits_spooled, ids, incomplete
from tests.integration.trail.server import execute, insert
from tests.integration.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from lastseat.lab import Lab

PEEK = (
    "SELECT data FROM pg_logical_slot_get_binary_changes('naive', NULL, NULL, 'proto_version', '1', "
    "'publication_names', 'naive')"
)


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
            await until(lambda: commits_spooled(tmp_path) >= 50, "spooling the first rows")
            await breakable.postgres.crash()
        await breakable.postgres.restart()
        await insert(dsn, *range(50, 60))
        await state.read(dsn, NOTES, tmp_path, deadline_seconds=10)
        await trail.drain(deadline_seconds=20)
        record = trail.to_parquet()
    assert record.status is TrailStatus.DRAINED
    assert record.reconnects >= 1
    assert record.repeated >= 50
    assert ids(tmp_path, "changes/notes") == [str(number) for number in range(60)]
    assert incomplete(tmp_path, "notes") == []


async def test_a_crash_in_the_middle_of_drain_is_survived(breakable: Lab, dsn: str, tmp_path: Path) -> None:
    async with Trail.open(dsn, NOTES, tmp_path, pace=BRISK) as trail:
        await insert(dsn, *range(20))
        await state.read(dsn, NOTES, tmp_path, deadline_seconds=10)
        await breakable.postgres.crash()
        drained = asyncio.create_task(trail.drain(deadline_seconds=20))
        await breakable.postgres.restart()
        assert (await drained).status is TrailStatus.DRAINED
        trail.to_parquet()
    assert incomplete(tmp_path, "notes") == []


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
