"""Databases made for a run and dropped after it, in the lab's own server or in one that was there already."""

from __future__ import annotations

import asyncpg

from checker.quoting import quote
from lastseat.errors import LabError, UsageError

ANSWER_SECONDS = 30.0
BREAKS = (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)
NAME_BYTES_MAX = 63
"""PostgreSQL cuts longer names off, and two names could become one (NAMEDATALEN - 1)."""


async def create(admin_dsn: str, name: str, template: str | None) -> None:
    """Create a database, as a copy of `template` if given; raises LabError when the server refuses."""
    if not 0 < len(name.encode()) <= NAME_BYTES_MAX:
        raise UsageError(f"a database name has 1 to {NAME_BYTES_MAX} bytes: {name!r}")
    copy = f" TEMPLATE {quote(template)}" if template else ""
    await _run(admin_dsn, f"CREATE DATABASE {quote(name)}{copy}", f"database {name} could not be created")


async def drop(admin_dsn: str, name: str) -> None:
    """Drop a database with its replication slots, ending whoever still uses them; nothing happens without it."""
    session = await _connect(admin_dsn)
    try:
        # FORCE ends ordinary sessions but refuses while a slot is read; slots that nobody reads go with the database.
        await session.execute(
            "SELECT pg_terminate_backend(active_pid, 5000) FROM pg_replication_slots"
            " WHERE database = $1 AND active_pid IS NOT NULL",
            name,
        )
        await session.execute(f"DROP DATABASE IF EXISTS {quote(name)} WITH (FORCE)")
    except BREAKS as problem:
        raise LabError(f"database {name} could not be dropped: {_spelled(problem)}") from None
    finally:
        await session.close(timeout=ANSWER_SECONDS)


async def _run(admin_dsn: str, statement: str, failure: str) -> None:
    session = await _connect(admin_dsn)
    try:
        await session.execute(statement)
    except BREAKS as problem:
        raise LabError(f"{failure}: {_spelled(problem)}") from None
    finally:
        await session.close(timeout=ANSWER_SECONDS)


async def _connect(admin_dsn: str) -> asyncpg.Connection:
    try:
        return await asyncpg.connect(admin_dsn, timeout=ANSWER_SECONDS, command_timeout=ANSWER_SECONDS)
    except BREAKS as problem:
        raise LabError(f"PostgreSQL does not let the lab in: {_spelled(problem)}") from None


def _spelled(problem: Exception) -> str:
    return str(problem) or f"no answer within {ANSWER_SECONDS:g} s"
