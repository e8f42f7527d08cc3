"""The trail loses nothing between polls: long transactions, busy writers, sessions that end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import asyncpg

from checker import state
from checker.trail import Pace, Trail, TrailStatus, polling, slot
from tests.integration.trail.folder import BRISK, NOTES, ids, incomplete

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def test_a_long_transaction_is_read_whole_when_it_commits_after_many_polls(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    other = await asyncpg.connect(database)
    async with Trail.open(database, NOTES, tmp_path, pace=Pace(poll_seconds=0.01)) as trail:
        async with sql.transaction():
            await sql.execute("INSERT INTO notes VALUES (1)")
            for number in range(100, 130):
                await other.execute("INSERT INTO notes VALUES ($1)", number)
                await other.execute("SELECT pg_sleep(0.01)")
        await trail.drain(deadline_seconds=10)
        trail.to_parquet()
    await other.close()
    told = ids(tmp_path, "changes/notes")
    assert told == [*(str(number) for number in range(100, 130)), "1"]


async def test_a_drain_reads_on_past_the_limit_of_one_poll(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    async with Trail.open(database, NOTES, tmp_path, pace=Pace(poll_seconds=60, changes_max=10)) as trail:
        for number in range(100):
            await sql.execute("INSERT INTO notes VALUES ($1)", number)
        record = await trail.drain(deadline_seconds=10)
        assert record.drained_to_lsn is not None
        trail.to_parquet()
    assert ids(tmp_path, "changes/notes") == [str(number) for number in range(100)]


async def test_writers_that_never_stop_leave_no_gap_between_base_slot_and_state(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    """The hard case, a database that is in use: writes go on while slot, base, state and marker are made."""
    await sql.execute("INSERT INTO notes SELECT g, repeat('z', 3000), '' FROM generate_series(0, 49) AS g")
    stop = asyncio.Event()

    async def write(lane: int) -> None:
        session = await asyncpg.connect(database)
        turn = 0
        while not stop.is_set():
            turn += 1
            seat = lane * 10 + turn % 10
            await session.execute("UPDATE notes SET word = $2 WHERE id = $1", seat, f"{lane}.{turn}")
            await session.execute("INSERT INTO notes VALUES ($1)", 1_000_000 * (lane + 1) + turn)
            await session.execute("DELETE FROM notes WHERE id = $1", 1_000_000 * (lane + 1) + turn - 3)
        await session.close()

    async with asyncio.TaskGroup() as writers:
        for lane in range(4):
            writers.create_task(write(lane))
        async with Trail.open(database, NOTES, tmp_path, pace=BRISK) as trail:
            await sql.execute("SELECT pg_sleep(0.5)")
            await state.read(database, NOTES, tmp_path, deadline_seconds=10)
            await trail.drain(deadline_seconds=10)
            stop.set()
            record = trail.to_parquet()
    assert record.changes["notes"] > 100
    assert incomplete(tmp_path, "notes") == []


async def test_a_terminated_session_is_mended_and_nothing_is_lost(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    async with Trail.open(database, NOTES, tmp_path, pace=BRISK) as trail:
        for number in range(40):
            await sql.execute("INSERT INTO notes VALUES ($1)", number)
            if number % 10 == 0:
                await terminate_trail(sql)
        await state.read(database, NOTES, tmp_path, deadline_seconds=10)
        await trail.drain(deadline_seconds=10)
        record = trail.to_parquet()
    assert record.status is TrailStatus.DRAINED
    assert record.reconnects > 0
    assert ids(tmp_path, "changes/notes") == [str(number) for number in range(40)]
    assert incomplete(tmp_path, "notes") == []


async def test_a_slot_that_somebody_else_has_taken_meanwhile_breaks_the_trail(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    """Whoever holds the slot's lock may drop it, as a cleaner does with what dead runs left."""
    pace = Pace(poll_seconds=60, reconnect_seconds=0.5)
    async with Trail.open(database, NOTES, tmp_path, pace=pace) as trail:
        (name,) = await sql.fetchrow(
            "SELECT slot_name::text FROM pg_replication_slots WHERE database = $1",
            (await sql.fetchval("SELECT current_database()")),
        )
        async with asyncio.timeout(
            10
        ):  # one that is ended in its first poll comes back once, and rests only then
            while not await slot.claim(sql, name):
                await terminate_trail(sql)
                await sql.execute("SELECT pg_sleep(0.02)")
        record = await trail.drain(deadline_seconds=20)
        trail.to_parquet()
    assert record.status is TrailStatus.BROKEN
    assert f"another session has held the slot {name} for 0.5 s" in str(record.reason)
    await sql.execute("SELECT pg_advisory_unlock_all()")
    await slot.drop(sql, name)


async def test_what_a_slot_repeats_is_spooled_again_and_counted_once(
    database: str, sql: asyncpg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slot that never moves on repeats everything at each poll, as one does once after a crash."""
    monkeypatch.setattr(polling, "_ADVANCE", "SELECT $1::text, $2::pg_lsn")
    async with Trail.open(database, NOTES, tmp_path, pace=BRISK) as trail:
        for number in range(10):
            await sql.execute("INSERT INTO notes VALUES ($1)", number)
            await sql.execute("SELECT pg_sleep(0.05)")
        await trail.drain(deadline_seconds=10)
        record = trail.to_parquet()
    assert record.repeated > 10
    assert ids(tmp_path, "changes/notes") == [str(number) for number in range(10)]


async def test_a_temporary_slot_goes_with_its_session_and_says_so(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    async with Trail.open(database, NOTES, tmp_path, temporary=True, pace=BRISK) as trail:
        await sql.execute("INSERT INTO notes VALUES (1)")
        await terminate_trail(sql)
        record = await trail.drain(deadline_seconds=10)
    assert record.status is TrailStatus.BROKEN
    assert "took the temporary slot with it" in str(record.reason)


async def terminate_trail(sql: asyncpg.Connection) -> None:
    ended = await sql.fetchval(
        "SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity "
        "WHERE application_name = 'lastseat trail' AND datname = current_database()"
    )
    assert ended is not None
