"""The replication slot and its publication: made in the one order that loses nothing, read, and dropped.

Order: database, publication, slot, and only then the first row. The slot is made in a transaction of its own.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Final

import asyncpg
import msgspec

from checker import session
from checker.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checker.tables import Table

PREFIX: Final = "lastseat_"


class TrailError(RuntimeError):
    """The trail cannot be read, in a sentence that says why."""


class NoTrailError(TrailError):
    """This database does no logical decoding for us: a property of the target, not a failure of the run."""


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """A slot and the publication of the same name."""

    name: str
    temporary: bool
    started_at_lsn: int


# Sessions (pid 0: a prepared transaction) that hold what another one waits for.
_BLOCKERS = """
SELECT blocker.pid, a.usename::text AS role, a.datname::text AS database, a.application_name AS application,
       a.state, round(extract(epoch FROM clock_timestamp() - a.xact_start)::numeric, 1)::float8 AS open_seconds
FROM (SELECT DISTINCT unnest(pg_blocking_pids($1)) AS pid) AS blocker
LEFT JOIN pg_stat_activity a ON a.pid = blocker.pid
"""


async def make(
    connection: asyncpg.Connection,
    dsn: str,
    tables: Sequence[Table],
    *,
    temporary: bool,
    deadline_seconds: float,
) -> Slot:
    """Make a publication of just these tables, then a slot.

    Raises NoTrailError where the database cannot, and TrailError naming the session that blocked the slot for
    `deadline_seconds`: PostgreSQL lets a slot begin only when every transaction open at that time has ended.
    """
    await _refuse_unfit(connection, tables)
    name = PREFIX + secrets.token_hex(6)
    if not await claim(connection, name):
        raise TrailError(f"another session holds the lock of a slot that was to be made: {name}")
    try:
        await _publish(connection, name, tables)
    except asyncpg.InsufficientPrivilegeError as refusal:
        raise NoTrailError(f"no trail, because the publication was refused: {refusal}") from refusal
    try:
        lsn = await _create(connection, dsn, name, temporary=temporary, deadline_seconds=deadline_seconds)
    except BaseException:
        await drop(connection, name)
        raise
    return Slot(name=name, temporary=temporary, started_at_lsn=lsn)


async def _refuse_unfit(connection: asyncpg.Connection, tables: Sequence[Table]) -> None:
    level = await connection.fetchval("SELECT current_setting('wal_level')")
    if level != "logical":
        raise NoTrailError(f"no trail, because wal_level is {level}, not logical")
    for table in tables:
        if table.unfit:
            raise NoTrailError(f"no trail, because {table.name} cannot be published: {table.unfit}")


async def _publish(connection: asyncpg.Connection, name: str, tables: Sequence[Table]) -> None:
    options = "publish = 'insert, update, delete, truncate', publish_via_partition_root = true"
    if connection.get_server_version().major >= 18:  # noqa: PLR2004 - the version that brought the option
        options += ", publish_generated_columns = stored"
    listed = ", ".join(table.quoted for table in tables)
    await connection.execute(f"CREATE PUBLICATION {quote(name)} FOR TABLE {listed} WITH ({options})")


async def _create(
    connection: asyncpg.Connection, dsn: str, name: str, *, temporary: bool, deadline_seconds: float
) -> int:
    creation = asyncio.ensure_future(
        connection.fetchval(
            "SELECT lsn FROM pg_create_logical_replication_slot($1, 'pgoutput', $2)", name, temporary
        )
    )
    try:
        done, _ = await asyncio.wait({creation}, timeout=deadline_seconds)
        if not done:
            blockers = await _blockers(dsn, connection.get_server_pid())
            raise TrailError(f"the slot could not be made within {deadline_seconds:g} s: {blockers}")
        lsn = creation.result()
    except (
        asyncpg.InsufficientPrivilegeError,
        asyncpg.ObjectNotInPrerequisiteStateError,
        asyncpg.ConfigurationLimitExceededError,
    ) as refusal:
        raise NoTrailError(f"no trail, because the slot was refused: {refusal}") from refusal
    finally:
        if not creation.done():
            creation.cancel()
            await asyncio.wait({creation}, timeout=deadline_seconds)
    return int(lsn)


async def _blockers(dsn: str, waiting_pid: int) -> str:
    """Name the sessions that a waiting one waits for, in words; never their queries, which may hold secrets."""
    connection = await session.connect(dsn, purpose="blockers")
    try:
        rows = await connection.fetch(_BLOCKERS, waiting_pid)
    finally:
        await session.close(connection)
    if not rows:
        return "nothing seems to block it"
    return "; ".join(_blocker(row) for row in rows)


def _blocker(row: asyncpg.Record) -> str:
    if not row["pid"]:
        return "a prepared transaction is open"
    return (
        f"session {row['pid']} ({row['application'] or 'unnamed'}, role {row['role']}, database {row['database']}) "
        f"has had a transaction open for {row['open_seconds']} s and is {row['state']}"
    )


async def outlive(connection: asyncpg.Connection, dsn: str, *, deadline_seconds: float) -> None:
    """Wait until every transaction that has begun to write so far is visible or gone.

    A transaction whose commit record precedes the slot may still be waiting for its fsync, not yet visible:
    a snapshot taken now would miss it, and so would the slot. Raises TrailError naming who is still open.
    """
    newest = int(await connection.fetchval("SELECT pg_current_xact_id()::text"))
    try:
        async with asyncio.timeout(deadline_seconds):
            async for _ in session.attempts(every_seconds=0.01):
                oldest = await connection.fetchval("SELECT pg_snapshot_xmin(pg_current_snapshot())::text")
                if int(oldest) > newest:
                    return
    except TimeoutError:
        blockers = await _writers(dsn, newest)
        raise TrailError(
            f"transactions stayed open for {deadline_seconds:g} s before the base: {blockers}"
        ) from None


_WRITERS = """
SELECT pid, usename::text AS role, datname::text AS database, application_name AS application, state,
       round(extract(epoch FROM clock_timestamp() - xact_start)::numeric, 1)::float8 AS open_seconds
FROM pg_stat_activity WHERE backend_xid IS NOT NULL AND pid <> pg_backend_pid()
"""


async def _writers(dsn: str, newest: int) -> str:
    connection = await session.connect(dsn, purpose="blockers")
    try:
        rows = await connection.fetch(_WRITERS)
    finally:
        await session.close(connection)
    return "; ".join(_blocker(row) for row in rows) or f"one with an xid up to {newest}, in no session"


async def drop(connection: asyncpg.Connection, name: str) -> None:
    """Drop a slot and its publication, whichever of them exist; a temporary slot goes with its session."""
    await connection.execute(
        "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = $1 AND NOT temporary",
        name,
    )
    await connection.execute(f"DROP PUBLICATION IF EXISTS {quote(name)}")


# A run holds this advisory lock for as long as its session lives: a slot read by SQL looks idle between polls.
_LOCK_CLASS: Final = int.from_bytes(b"seat", "big")


async def claim(connection: asyncpg.Connection, name: str) -> bool:
    """Take the lock that says a living run reads this slot; False where one already does."""
    return bool(
        await connection.fetchval("SELECT pg_try_advisory_lock($1::int4, hashtext($2))", _LOCK_CLASS, name)
    )


_LEFT = """
SELECT slot_name::text AS name FROM pg_replication_slots
WHERE database = current_database() AND NOT temporary AND starts_with(slot_name::text, $1)
UNION
SELECT pubname::text FROM pg_publication WHERE starts_with(pubname::text, $1)
ORDER BY name
"""


async def clean(dsn: str) -> list[str]:
    """Drop the slots and publications that crashed runs left in this database; returns their names.

    Those of a run that lives are left alone.
    """
    connection = await session.connect(dsn, purpose="clean")
    try:
        names = [row["name"] for row in await connection.fetch(_LEFT, PREFIX)]
        left = [name for name in names if await claim(connection, name)]
        for name in left:
            await drop(connection, name)
    finally:
        await session.close(connection)
    return left
