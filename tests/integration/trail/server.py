"""What is asked of a server while a trail of it is kept."""

from __future__ import annotations

import asyncpg


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


async def left_over(sql: asyncpg.Connection) -> list[str]:
    found = await sql.fetch(
        "SELECT slot_name::text AS name FROM pg_replication_slots WHERE database = current_database() "
        "UNION ALL SELECT pubname::text FROM pg_publication"
    )
    return [row["name"] for row in found]
