"""A direct PostgreSQL session whose text output is the same wherever evidence is read.

The trail prints values with the settings of the session that decodes it, the state with those of the session
that reads it; the two can be compared text by text only because both come from here.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import asyncpg

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TEXT_SETTINGS: Final = {
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",  # shortest text that reads back exactly
    "bytea_output": "hex",
    "search_path": "pg_catalog",  # regclass and the like print their schema
    "lc_monetary": "C",
    # The trail's marker must be flushed to be decoded, without waiting for a standby that a fault took away.
    "synchronous_commit": "local",
    # A reader that dies in a poll must not leave a transaction open in the database under test.
    "idle_in_transaction_session_timeout": "60s",
    # Evidence is read while faults are live: no target's own limits may cut it off.
    "statement_timeout": "0",
    "lock_timeout": "0",
}

CONNECT_SECONDS: Final = 5.0

#: What a connection may raise when the server goes away in the middle of something.
GONE: Final = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.OperatorInterventionError,
    asyncpg.CannotConnectNowError,
    asyncpg.TooManyConnectionsError,
    # A farewell that an idle session was sent, read before its end was seen, leaves the driver in this state for good.
    asyncpg.InternalClientError,
)


async def connect(dsn: str, *, purpose: str) -> asyncpg.Connection:
    """Open a session for reading evidence; `purpose` is seen in pg_stat_activity as `lastseat PURPOSE`."""
    settings = TEXT_SETTINGS | {"application_name": f"lastseat {purpose}"}
    return await asyncpg.connect(dsn, server_settings=settings, timeout=CONNECT_SECONDS)


async def reconnect(dsn: str, *, purpose: str, within_seconds: float) -> asyncpg.Connection:
    """Open a session to a server that may be restarting; raises TimeoutError when it is not back in time."""
    last: BaseException | None = None
    try:
        async with asyncio.timeout(within_seconds):
            async for _ in attempts(every_seconds=0.2):
                try:
                    return await connect(dsn, purpose=purpose)
                except GONE as gone:
                    last = gone
    except TimeoutError:
        pass
    reason = f"{type(last).__name__}: {last}" if last else "no answer"
    raise TimeoutError(f"PostgreSQL was not back within {within_seconds:g} s ({purpose}; {reason})")


async def attempts(*, every_seconds: float) -> AsyncIterator[int]:
    """Count attempts, pausing between them; the caller bounds them by a timeout."""
    number = 0
    while True:
        yield number
        number += 1
        await asyncio.sleep(every_seconds)


async def pause(stop: asyncio.Event, seconds: float) -> None:
    """Wait for a while, or until told to stop."""
    if seconds <= 0:
        return
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        pass


async def close(connection: asyncpg.Connection | None) -> None:
    """Close a session politely if it answers at once, and by force if not."""
    if connection is None or connection.is_closed():
        return
    try:
        await connection.close(timeout=1.0)
    except (*GONE, asyncpg.PostgresError):
        connection.terminate()
