"""A commit that is written but not yet visible is not lost between base and slot."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import asyncpg

from checker import state
from checker.trail import Pace, Trail
from tests.integration.trail.folder import NOTES, ids, incomplete
from tests.integration.trail.server import execute, fetchval
from tests.integration.waiting import until

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_commit_that_is_written_but_not_yet_visible_is_not_lost_between_base_and_slot(
    dsn: str, tmp_path: Path
) -> None:
    """The commit record of 3 precedes the slot's start, and yet a snapshot taken then does not show the row.

    A commit that waits for a standby which is not there stands still in that gap; the fsync of any commit passes it.
    """
    first, second, ghost = [await asyncpg.connect(dsn) for _ in range(3)]
    for writer in (first, second):
        await writer.execute("SET synchronous_commit = local")
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
    assert sorted(ids(tmp_path, "base/notes") + ids(tmp_path, "changes/notes")) == ["1", "2", "3"]
    assert incomplete(tmp_path, "notes") == []
    for writer in (first, second, ghost):
        await writer.close()


async def run_briefly(dsn: str, folder: Path) -> None:
    async with Trail.open(dsn, NOTES, folder, pace=Pace(poll_seconds=0.05, create_seconds=20)) as trail:
        await state.read(dsn, NOTES, folder, deadline_seconds=10)
        await trail.drain(deadline_seconds=10)
        trail.to_parquet()


async def execute_locally(dsn: str, *statements: str) -> None:
    await execute(dsn, "SET synchronous_commit = local", *statements)


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
