"""What is asked of a server while a trail of it is kept."""

from __future__ import annotations

import asyncio
from inspect import isawaitable
from typing import TYPE_CHECKING

import asyncpg

from checker.session import attempts

if TYPE_CHECKING:
    from collections.abc import Callable


async def execute(dsn: str, *statements: str) -> None:
    connection = await asyncpg.connect(dsn)
    for statement in statements:
        await connection.execute(statement)
    await connection.close()


async def insert(dsn: str, *ids: int) -> None:
    await execute(dsn, *(f"INSERT INTO notes VALUES ({number})" for number in ids))


async def fetchval(dsn: str, query: str, *arguments: object) -> object:
    connection = await asyncpg.connect(dsn)
    try:
        return await connection.fetchval(query, *arguments)
    finally:
        await connection.close()


async def until(holds: Callable[[], object], what: str, *, within_seconds: float = 10.0) -> None:
    """Wait for a condition, which may be asked of a server."""
    try:
        async with asyncio.timeout(within_seconds):
            async for _ in attempts(every_seconds=0.02):
                held = holds()
                if await held if isawaitable(held) else held:
                    return
    except TimeoutError:
        raise AssertionError(f"{what} did not happen within {within_seconds:g} s") from None


async def left_over(sql: asyncpg.Connection) -> list[str]:
    found = await sql.fetch(
        "SELECT slot_name::text AS name FROM pg_replication_slots WHERE database = current_database() "
        "UNION ALL SELECT pubname::text FROM pg_publication"
    )
    return [row["name"] for row in found]
