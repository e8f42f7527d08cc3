"""Opening a trail: refused with the reason where it would not be whole, and gone without a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg
import pytest

from checker import state
from checker.tables import UnknownTableError
from checker.trail import NoTrailError, Pace, Trail, TrailError, TrailStatus, clean, read_record
from tests.integration.trail.folder import BRISK, NOTES, SEATS, ids
from tests.integration.trail.server import execute, insert, left_over

if TYPE_CHECKING:
    from pathlib import Path

    from lastseat.lab import Lab


async def test_a_blocked_slot_names_the_session_that_blocks_it(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    blocker = await asyncpg.connect(database, server_settings={"application_name": "a forgotten psql"})
    transaction = blocker.transaction()
    await transaction.start()
    await blocker.execute("INSERT INTO notes VALUES (1)")
    try:
        with pytest.raises(TrailError) as refused:
            await open_and_leave(database, tmp_path)
    finally:
        await transaction.rollback()
        await blocker.close()
    assert f"session {blocker.get_server_pid()} (a forgotten psql" in str(refused.value)
    assert "idle in transaction" in str(refused.value)
    assert "INSERT" not in str(refused.value)
    assert await left_over(sql) == []


async def open_and_leave(database: str, folder: Path) -> None:
    async with Trail.open(database, NOTES, folder, pace=Pace(create_seconds=0.5)):
        pass


async def test_slot_and_publication_are_dropped_on_every_way_out(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    for temporary in (False, True):
        folder = tmp_path / str(temporary)
        folder.mkdir()
        with pytest.raises(ZeroDivisionError):
            await fail_inside(database, sql, folder, temporary=temporary)
        assert await left_over(sql) == []
        record = read_record(folder)
        assert (record.status, record.left_behind) == (TrailStatus.BROKEN, ())
        assert record.reason == "the run ended before the trail was drained"


async def fail_inside(database: str, sql: asyncpg.Connection, folder: Path, *, temporary: bool) -> None:
    async with Trail.open(database, SEATS, folder, temporary=temporary):
        assert len(await left_over(sql)) == 2
        raise ZeroDivisionError


async def test_clean_drops_what_a_crash_left_and_spares_a_living_run(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    await sql.execute("SELECT pg_create_logical_replication_slot('lastseat_dead', 'pgoutput')")
    await sql.execute("CREATE PUBLICATION lastseat_dead FOR TABLE notes")
    await sql.execute("CREATE PUBLICATION somebody_elses FOR TABLE notes")
    async with Trail.open(database, SEATS, tmp_path, pace=BRISK) as trail:
        assert await clean(database) == ["lastseat_dead"]
        assert trail.record.slot in await left_over(sql)
    assert await left_over(sql) == ["somebody_elses"]


async def test_a_table_without_replica_identity_is_refused_before_its_updates_break(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    await sql.execute("CREATE TABLE bare (id integer, n integer); INSERT INTO bare VALUES (1, 1)")
    await sql.execute("CREATE PUBLICATION naive FOR ALL TABLES")
    with pytest.raises(asyncpg.ObjectNotInPrerequisiteStateError, match="does not have a replica identity"):
        await sql.execute("UPDATE bare SET n = 2")
    await sql.execute("DROP PUBLICATION naive")
    with pytest.raises(NoTrailError, match="no trail, because bare cannot be published: it has neither"):
        async with Trail.open(database, {"bare": ("id",)}, tmp_path):
            pass
    async with Trail.open(database, {"bare": ("id",)}, tmp_path, required=False) as trail:
        await sql.execute("UPDATE bare SET n = 3")
        assert (await trail.drain(deadline_seconds=5)).status is TrailStatus.NONE
        trail.to_parquet()
    assert "it has neither a primary key nor another replica identity" in str(read_record(tmp_path).reason)
    assert not (tmp_path / "changes").exists()


async def test_full_identity_with_a_virtual_column_is_refused_too(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    await sql.execute(
        "CREATE TABLE derived (id integer PRIMARY KEY, n integer, twice integer GENERATED ALWAYS AS (n * 2))"
    )
    await sql.execute("ALTER TABLE derived REPLICA IDENTITY FULL; INSERT INTO derived VALUES (1, 1)")
    await sql.execute("CREATE PUBLICATION naive FOR TABLE derived")
    with pytest.raises(asyncpg.PostgresError, match="cannot update table"):
        await sql.execute("UPDATE derived SET n = 2")
    await sql.execute("DROP PUBLICATION naive")
    with pytest.raises(NoTrailError, match="virtual generated column"):
        async with Trail.open(database, {"derived": ()}, tmp_path):
            pass


async def test_a_key_that_deletes_would_not_tell_is_refused(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    assert await left_over(sql) == []
    with pytest.raises(NoTrailError, match="does not tell the key column 'word'"):
        async with Trail.open(database, {"notes": ("word",)}, tmp_path):
            pass


async def test_unknown_tables_and_columns_are_named(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    assert await left_over(sql) == []
    for tables, words in (
        ({"chairs": ()}, "no table 'chairs'"),
        ({"notes": ("number",)}, "'notes' has no column 'number'"),
        ({"elsewhere.notes": ()}, "no table 'elsewhere.notes'"),
    ):
        with pytest.raises(UnknownTableError, match=words):
            async with Trail.open(database, tables, tmp_path, required=False):
                pass


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
    assert ids(tmp_path, "state/notes") == ["1"]
