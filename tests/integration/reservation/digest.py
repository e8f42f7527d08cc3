"""What a whole database holds, in one digest a table, so that a test can say that nothing was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import asyncpg

_TABLES: Final = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename"


async def digest(sql: asyncpg.Connection) -> dict[str, str]:
    """Return the digest of every table's rows, all of one snapshot."""
    names = [row["tablename"] for row in await sql.fetch(_TABLES)]
    columns = ", ".join(
        f"(SELECT md5(coalesce(string_agg(t::text, E'\\n' ORDER BY t::text), '')) FROM \"{name}\" AS t) AS \"{name}\""
        for name in names
    )
    return dict(await sql.fetchrow(f"SELECT {columns}"))
