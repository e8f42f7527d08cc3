"""Settling: after the load, wait until the service has nothing under way, so that the state is read at rest."""

from __future__ import annotations

import asyncpg

from lastseat.errors import LabError
from lastseat.waiting import until

CONNECT_SECONDS = 5.0
QUIET_LOOKS = 2
"""How many looks in a row must find nothing under way: between two statements a command looks idle."""

_UNDER_WAY = """
SELECT coalesce(string_agg(format('%s (pid %s): %s', application_name, pid, left(query, 80)), '; '), '')
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
  AND application_name NOT LIKE 'lastseat%' AND xact_start IS NOT NULL
"""


async def settle(dsn: str, *, within_seconds: float) -> None:
    """Wait until no transaction of the service is open; raises LabError naming those that still are at the bound."""
    connection = await asyncpg.connect(
        dsn, timeout=CONNECT_SECONDS, server_settings={"application_name": "lastseat settle"}
    )
    quiet = 0
    last = ""

    async def at_rest() -> bool | None:
        nonlocal quiet, last
        last = str(await connection.fetchval(_UNDER_WAY))
        quiet = 0 if last else quiet + 1
        return True if quiet >= QUIET_LOOKS else None

    try:
        await until(
            at_rest,
            within_seconds=within_seconds,
            failing=lambda problem: LabError(
                f"the service did not come to rest within {within_seconds:g} s: {last or problem}",
                remedy="see logs/postgres.log in the run folder for what it waits on",
            ),
        )
    finally:
        await connection.close(timeout=CONNECT_SECONDS)
