"""Which instant of CLOCK_MONOTONIC a clock's reading belongs to, for this process and for PostgreSQL.

Evidence of the load is in monotonic time, that of the database in its own; pairs of both, taken at the start, each
second and at the end, say whether they can be compared. `slack_ns` bounds how far `mono_ns` may be off.
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import msgspec

from checker.schemas import CLOCKS
from checker.series import Series
from checker.watch import watching

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import asyncpg

RUNNER: Final = "runner"
POSTGRES: Final = "postgres"

# A reading is only as good as its bracket is narrow: of a few tries the narrowest is kept.
_TRIES: Final = 5
_DATABASE_CLOCK: Final = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"


class Reading(msgspec.Struct, frozen=True):
    """A clock read between two reads of the monotonic one: the middle of them, the reading, half their distance."""

    mono_ns: int
    real_ns: int
    slack_ns: int


def bracketed(before_ns: int, real_ns: int, after_ns: int) -> Reading:
    """Make a reading of a clock that was read between two monotonic instants."""
    return Reading((before_ns + after_ns) // 2, real_ns, (after_ns - before_ns + 1) // 2)


def own_reading() -> Reading:
    """Read this process's own realtime clock; other processes of a run may call it for their pairs."""
    tries = (bracketed(time.monotonic_ns(), time.time_ns(), time.monotonic_ns()) for _ in range(_TRIES))
    return min(tries, key=lambda reading: reading.slack_ns)


async def database_reading(connection: asyncpg.Connection) -> Reading:
    """Read PostgreSQL's clock over a direct session."""
    tries = []
    for _ in range(_TRIES):
        before_ns = time.monotonic_ns()
        real_us = await connection.fetchval(_DATABASE_CLOCK)
        tries.append(bracketed(before_ns, real_us * 1_000, time.monotonic_ns()))
    return min(tries, key=lambda reading: reading.slack_ns)


class Clocks:
    """The pairs of a run as they are taken; `add` takes those of other processes."""

    def __init__(self, series: Series) -> None:
        self._series = series

    def add(self, process: str, reading: Reading) -> None:
        """Note one pair of a process."""
        self._series.append(process, reading.mono_ns, reading.real_ns, reading.slack_ns)

    async def look(self, connection: asyncpg.Connection | None) -> None:
        """Note this process's pair, and PostgreSQL's unless it is away."""
        self.add(RUNNER, own_reading())
        if connection is not None:
            self.add(POSTGRES, await database_reading(connection))

    @classmethod
    @asynccontextmanager
    async def open(cls, dsn: str, folder: Path, *, every_seconds: float = 1.0) -> AsyncIterator[Clocks]:
        """Write clocks.parquet while the block runs; raises what connecting raises if PostgreSQL is away at first."""
        with Series(folder / "clocks.parquet", CLOCKS, batch_rows=256) as series:
            clocks = cls(series)
            async with watching(dsn, clocks.look, purpose="clocks", every_seconds=every_seconds):
                yield clocks
