"""All tables at rest are read in one snapshot: what is written between the first and the last of them tells of no drift."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import asyncpg
import pyarrow.parquet as pq

from checker import state
from tests.integration.waiting import until

if TYPE_CHECKING:
    from pathlib import Path

MOVED = """
CREATE TABLE counted (id integer PRIMARY KEY, n integer); INSERT INTO counted VALUES (1, 5);
CREATE TABLE claimed (id integer PRIMARY KEY, n integer); INSERT INTO claimed VALUES (1, 5)
"""
WAITS = "SELECT count(*) FROM pg_locks WHERE relation = 'counted'::regclass AND NOT granted"


async def test_a_commit_between_the_reading_of_two_tables_shows_in_neither_or_in_both(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    await sql.execute(MOVED)
    tables: dict[str, tuple[str, ...]] = {"counted": (), "claimed": ()}
    other = await asyncpg.connect(database)
    async with other.transaction():
        await other.execute("LOCK TABLE counted IN ACCESS EXCLUSIVE MODE")
        reading = asyncio.create_task(state.read(database, tables, tmp_path, deadline_seconds=20))
        await until(lambda: sql.fetchval(WAITS), "the first table is waited for")
        await other.execute("UPDATE counted SET n = 4")
        await other.execute("UPDATE claimed SET n = 4")
    await reading
    await other.close()
    seen = [pq.read_table(tmp_path / "state" / f"{name}.parquet")["new_n"].to_pylist() for name in tables]
    assert seen == [["5"], ["5"]]
