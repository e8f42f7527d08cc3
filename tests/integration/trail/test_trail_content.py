"""The trail of a real server holds every change once, in commit order, as the server prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncpg

from checker import state
from checker.session import TEXT_SETTINGS
from checker.trail import Trail, TrailStatus, read_record
from tests.integration.trail.folder import BRISK, NOTES, SEATS, ids, incomplete, rows

if TYPE_CHECKING:
    from pathlib import Path


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
    assert len(rows(tmp_path, "base/notes")) == 3
    assert len(rows(tmp_path, "state/seats")) == 401
    updated = {row["new_id"]: row for row in rows(tmp_path, "changes/notes") if row["action"] == "U"}
    assert updated["7"]["new_body"] == "y" * 5000
    assert updated["9"]["new_body"] == 'new\n","'
    assert read_record(tmp_path).changes == {"seats": len(rows(tmp_path, "changes/seats")), "notes": 4}


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


async def test_the_state_prints_as_the_trail_and_a_cast_does_not(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    await fill_seats(sql, 1)
    await state.read(database, SEATS, tmp_path, deadline_seconds=10)
    (row,) = rows(tmp_path, "state/seats")
    assert (row["new_ok"], row["new_padded"]) == ("f", " A  ")
    cast = await sql.fetchrow("SELECT ok::text, padded::text FROM seats")
    assert tuple(cast) == ("false", " A")


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
    async with Trail.open(database, NOTES, tmp_path, pace=BRISK) as trail:
        await sql.execute("INSERT INTO notes VALUES (2)")
        await state.read(database, NOTES, tmp_path, deadline_seconds=10)
        await trail.drain(deadline_seconds=10)
        trail.to_parquet()
    assert ids(tmp_path, "base/notes") == ["1"]
    assert ids(tmp_path, "changes/notes") == ["2"]
    assert incomplete(tmp_path, "notes") == []


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
    assert [row["new_bookingId"] for row in rows(tmp_path, "changes/shop.Booking")] == ["1"]
    assert rows(tmp_path, "state/shop.Booking") == [{"new_bookingId": "1"}]


async def test_order_comes_from_the_commit_and_not_from_its_time(
    database: str, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    """A commit's timestamp may lie: here the second transaction carries a time years before the first one's."""
    async with Trail.open(database, NOTES, tmp_path, pace=BRISK) as trail:
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
    first, second = rows(tmp_path, "changes/notes")
    assert (first["new_id"], second["new_id"]) == ("1", "2")
    assert first["commit_lsn"] < second["commit_lsn"]
    assert first["commit_us"] > second["commit_us"] == 978_307_200_000_000
