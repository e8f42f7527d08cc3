"""The trail of a real server: whole, in commit order, and gone without a trace."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import asyncpg
import duckdb
import pyarrow.parquet as pq
import pytest

from checker import state
from checker.session import TEXT_SETTINGS
from checker.tables import UnknownTableError
from checker.trail import NoTrailError, Pace, Trail, TrailError, TrailStatus, clean, polling, read_record
from checker.trail.completeness import differences

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

BRISK = Pace(poll_seconds=0.05)
SEATS = {"seats": ("id",)}


@pytest.fixture
async def sql(database: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(database)
    await connection.execute(
        """
        CREATE TYPE mood AS ENUM ('sad', 'ok');
        CREATE TABLE seats (
          id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, n integer, small smallint, name text, padded char(4),
          ok boolean, at timestamptz, lasting interval, token uuid, raw bytea, body jsonb, price numeric(12, 2),
          ratio double precision, tags text[], feeling mood, address inet,
          twice integer GENERATED ALWAYS AS (n * 2) STORED);
        ALTER TABLE seats REPLICA IDENTITY FULL;
        CREATE TABLE notes (id integer PRIMARY KEY, body text, word text);
        ALTER TABLE notes ALTER body SET STORAGE EXTERNAL;
        """
    )
    yield connection
    await connection.close()


async def fill_seats(sql: asyncpg.Connection, count: int) -> None:
    await sql.execute(
        """
        INSERT INTO seats (n, small, name, padded, ok, at, lasting, token, raw, body, price, ratio, tags, feeling, address)
        SELECT g, g % 7, E'na\\u00efve,\\n"quoted" ' || g, ' A', g % 2 = 0, now() + g * interval '1 s', g * interval '90 m',
               gen_random_uuid(), decode(lpad(to_hex(g), 8, '0'), 'hex'), jsonb_build_object('g', g), g / 3.0, g / 7.0,
               ARRAY['a', 'b,c', NULL, ''], 'ok', '10.0.0.1'
        FROM generate_series(1, $1::int) AS g
        """,
        count,
    )


def rows(folder: Path, table: str, part: str = "changes") -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = pq.read_table(folder / part / f"{table}.parquet").to_pylist()
    return read


def incomplete(folder: Path, *tables: str) -> list[object]:
    with duckdb.connect() as connection:
        return [found for table in tables for found in differences(connection, folder, table, ("id",))]


async def test_base_and_trail_make_up_the_state_in_every_column_type(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    tables: dict[str, tuple[str, ...]] = {"seats": (), "notes": ("id",)}
    await sql.execute(
        "INSERT INTO notes VALUES (7, repeat('y', 5000), 'base'), (8, NULL, ''), (9, E'new\n\",\"', 'x')"
    )
    async with Trail.open(database, tables, tmp_path, pace=BRISK) as trail:
        await fill_seats(sql, 500)
        await sql.execute("UPDATE seats SET n = NULL WHERE id % 3 = 0")
        await sql.execute("UPDATE seats SET id = DEFAULT WHERE id = 10")
        await sql.execute("DELETE FROM seats WHERE id % 5 = 0")
        await sql.execute("UPDATE notes SET word = 'b'")
        await sql.execute("ALTER TABLE notes ADD COLUMN extra mood")
        await sql.execute("INSERT INTO notes VALUES (10, '', NULL, 'sad')")
        await state.read(database, tables, tmp_path, deadline_seconds=10)
        record = await trail.drain(deadline_seconds=10)
        assert record.status is TrailStatus.DRAINED
        trail.to_parquet()
    assert incomplete(tmp_path, "seats", "notes") == []
    assert len(rows(tmp_path, "notes", "base")) == 3
    assert len(rows(tmp_path, "seats", "state")) == 401
    updated = {row["new_id"]: row for row in rows(tmp_path, "notes") if row["action"] == "U"}
    assert updated["7"]["new_body"] == "y" * 5000
    assert updated["9"]["new_body"] == 'new\n","'
    assert read_record(tmp_path).changes == {"seats": len(rows(tmp_path, "seats")), "notes": 4}


async def test_the_state_prints_as_the_trail_and_a_cast_does_not(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    await fill_seats(sql, 1)
    await state.read(database, SEATS, tmp_path, deadline_seconds=10)
    (row,) = rows(tmp_path, "seats", "state")
    assert (row["new_ok"], row["new_padded"]) == ("f", " A  ")
    cast = await sql.fetchrow("SELECT ok::text, padded::text FROM seats")
    assert tuple(cast) == ("false", " A")


async def test_changes_from_before_the_publication_decode_to_nothing(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    """Why the order of set-up matters: the naive order loses the row without an error, ours has it in the base."""
    await sql.execute("SELECT pg_create_logical_replication_slot('naive', 'pgoutput')")
    await sql.execute("INSERT INTO notes VALUES (1)")
    await sql.execute("CREATE PUBLICATION naive FOR TABLE notes")
    naive = await sql.fetch(
        "SELECT data FROM pg_logical_slot_get_binary_changes('naive', NULL, NULL, 'proto_version', '1', "
        "'publication_names', 'naive')"
    )
    await sql.execute("SELECT pg_drop_replication_slot('naive')")
    assert not [row for row in naive if row["data"][:1] == b"I"]
    async with Trail.open(database, {"notes": ()}, tmp_path, pace=BRISK) as trail:
        await sql.execute("INSERT INTO notes VALUES (2)")
        await state.read(database, {"notes": ()}, tmp_path, deadline_seconds=10)
        await trail.drain(deadline_seconds=10)
        trail.to_parquet()
    assert [row["new_id"] for row in rows(tmp_path, "notes", "base")] == ["1"]
    assert [row["new_id"] for row in rows(tmp_path, "notes")] == ["2"]
    assert incomplete(tmp_path, "notes") == []


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
    async with Trail.open(database, {"notes": ()}, folder, pace=Pace(create_seconds=0.5)):
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


async def left_over(sql: asyncpg.Connection) -> list[str]:
    found = await sql.fetch(
        "SELECT slot_name::text AS name FROM pg_replication_slots WHERE database = current_database() "
        "UNION ALL SELECT pubname::text FROM pg_publication"
    )
    return [row["name"] for row in found]


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


async def test_mixed_case_and_qualified_names_are_found_as_spelled(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    await sql.execute('CREATE SCHEMA shop; CREATE TABLE shop."Booking" ("bookingId" integer PRIMARY KEY)')
    tables: dict[str, tuple[str, ...]] = {"shop.Booking": ("bookingId",)}
    async with Trail.open(database, tables, tmp_path, pace=BRISK) as trail:
        await sql.execute('INSERT INTO shop."Booking" VALUES (1)')
        await state.read(database, tables, tmp_path, deadline_seconds=10)
        await trail.drain(deadline_seconds=10)
        trail.to_parquet()
    assert [row["new_bookingId"] for row in rows(tmp_path, "shop.Booking")] == ["1"]
    assert rows(tmp_path, "shop.Booking", "state") == [{"new_bookingId": "1"}]


async def test_order_comes_from_the_commit_and_not_from_its_time(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    """A commit's timestamp may lie: here the second transaction carries a time years before the first one's."""
    async with Trail.open(database, {"notes": ()}, tmp_path, pace=BRISK) as trail:
        await sql.execute("INSERT INTO notes VALUES (1)")
        await sql.execute("SELECT pg_replication_origin_create('past')")
        await sql.execute("SELECT pg_replication_origin_session_setup('past')")
        async with sql.transaction():
            await sql.execute("SELECT pg_replication_origin_xact_setup('0/1', '2001-01-01 00:00:00+00')")
            await sql.execute("INSERT INTO notes VALUES (2)")
        await sql.execute("SELECT pg_replication_origin_session_reset()")
        await sql.execute("SELECT pg_replication_origin_drop('past')")
        await trail.drain(deadline_seconds=10)
        trail.to_parquet()
    first, second = rows(tmp_path, "notes")
    assert (first["new_id"], second["new_id"]) == ("1", "2")
    assert first["commit_lsn"] < second["commit_lsn"]
    assert first["commit_us"] > second["commit_us"] == 978_307_200_000_000


async def test_a_long_transaction_is_read_whole_when_it_commits_after_many_polls(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    other = await asyncpg.connect(database)
    async with Trail.open(database, {"notes": ()}, tmp_path, pace=Pace(poll_seconds=0.01)) as trail:
        async with sql.transaction():
            await sql.execute("INSERT INTO notes VALUES (1)")
            for number in range(100, 130):
                await other.execute("INSERT INTO notes VALUES ($1)", number)
                await other.execute("SELECT pg_sleep(0.01)")
        await trail.drain(deadline_seconds=10)
        trail.to_parquet()
    await other.close()
    told = [row["new_id"] for row in rows(tmp_path, "notes")]
    assert told == [*(str(number) for number in range(100, 130)), "1"]


async def test_a_drain_reads_on_past_the_limit_of_one_poll(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    async with Trail.open(
        database, {"notes": ()}, tmp_path, pace=Pace(poll_seconds=60, changes_max=10)
    ) as trail:
        for number in range(100):
            await sql.execute("INSERT INTO notes VALUES ($1)", number)
        record = await trail.drain(deadline_seconds=10)
        assert record.drained_to_lsn is not None
        trail.to_parquet()
    assert [row["new_id"] for row in rows(tmp_path, "notes")] == [str(number) for number in range(100)]


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
        async with Trail.open(database, {"notes": ()}, tmp_path, pace=BRISK) as trail:
            await sql.execute("SELECT pg_sleep(0.5)")
            await state.read(database, {"notes": ()}, tmp_path, deadline_seconds=10)
            await trail.drain(deadline_seconds=10)
            stop.set()
            record = trail.to_parquet()
    assert record.changes["notes"] > 100
    assert incomplete(tmp_path, "notes") == []


async def test_a_terminated_session_is_mended_and_nothing_is_lost(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    async with Trail.open(database, {"notes": ()}, tmp_path, pace=BRISK) as trail:
        for number in range(40):
            await sql.execute("INSERT INTO notes VALUES ($1)", number)
            if number % 10 == 0:
                await terminate_trail(sql)
        await state.read(database, {"notes": ()}, tmp_path, deadline_seconds=10)
        await trail.drain(deadline_seconds=10)
        record = trail.to_parquet()
    assert record.status is TrailStatus.DRAINED
    assert record.reconnects > 0
    assert [row["new_id"] for row in rows(tmp_path, "notes")] == [str(number) for number in range(40)]
    assert incomplete(tmp_path, "notes") == []


async def test_what_a_slot_repeats_is_spooled_again_and_counted_once(
    database: str, sql: asyncpg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slot that never moves on repeats everything at each poll, as one does once after a crash."""
    monkeypatch.setattr(polling, "_ADVANCE", "SELECT $1::text, $2::pg_lsn")
    async with Trail.open(database, {"notes": ()}, tmp_path, pace=BRISK) as trail:
        for number in range(10):
            await sql.execute("INSERT INTO notes VALUES ($1)", number)
            await sql.execute("SELECT pg_sleep(0.05)")
        await trail.drain(deadline_seconds=10)
        record = trail.to_parquet()
    assert record.repeated > 10
    assert [row["new_id"] for row in rows(tmp_path, "notes")] == [str(number) for number in range(10)]


async def test_a_temporary_slot_goes_with_its_session_and_says_so(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    async with Trail.open(database, {"notes": ()}, tmp_path, temporary=True, pace=BRISK) as trail:
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


async def test_the_sessions_of_trail_and_state_print_alike(database: str, sql: asyncpg.Connection) -> None:
    """Roles and databases may carry settings of their own; the evidence's sessions override them."""
    name = await sql.fetchval("SELECT quote_ident(current_database())")
    await sql.execute(f"ALTER DATABASE {name} SET DateStyle = 'German'")
    await sql.execute(f"ALTER DATABASE {name} SET TimeZone = 'Asia/Seoul'")
    plain = await asyncpg.connect(database)
    ours = await asyncpg.connect(database, server_settings=TEXT_SETTINGS)
    moment = "SELECT format('%s', timestamptz '2026-01-02 00:00:00+00')"
    assert await plain.fetchval(moment) == "02.01.2026 09:00:00 KST"
    assert await ours.fetchval(moment) == "2026-01-02 00:00:00+00"
    await plain.close()
    await ours.close()
