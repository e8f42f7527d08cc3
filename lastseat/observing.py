"""What only the servers can tell of a run: sessions that idle, wait or lock, and what Redis still keeps at rest."""

from __future__ import annotations

import asyncio
import contextlib
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import redis.asyncio as redis
from redis.exceptions import RedisError

from checker.session import pause
from checker.watch import watching
from lastseat.errors import LabError
from lastseat.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import asyncpg

    from lastseat.samples import Samples

DATABASE = "database"
REDIS = "redis"
EVERY_SECONDS = 0.1
REST_SECONDS = 15.0
"""How long permits that are still out are waited for; those of a killed node come back when their leases are over."""
ASK_SECONDS = 5.0
COUNT_SECONDS = 1.0
PERMITS = "*permits*"
KEYS_MAX = 10_000

# Sessions of the bench, and what they lock, are none of the service's.
_SESSIONS = """
WITH theirs AS (
    SELECT *, state LIKE 'idle in transaction%' AS idle FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND application_name NOT LIKE 'lastseat%'
)
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - state_change)) FILTER (WHERE idle), 0)::float8
           AS idle_in_transaction_seconds,
       count(*) FILTER (WHERE idle)::float8 AS idle_in_transaction,
       count(*) FILTER (WHERE wait_event_type = 'Lock')::float8 AS lock_waits,
       count(*)::float8 AS sessions,
       (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid IN (SELECT pid FROM theirs))::float8
           AS advisory_locks
FROM theirs
"""


@asynccontextmanager
async def observing(dsn: str, samples: Samples) -> AsyncIterator[None]:
    """Sample the service's sessions while the block runs: source `database`, ten times a second, directly."""

    async def look(connection: asyncpg.Connection | None) -> None:
        if connection is not None:
            for metric, value in (await connection.fetchrow(_SESSIONS)).items():
                samples.note(DATABASE, metric, value)

    async with watching(dsn, look, purpose="sessions", every_seconds=EVERY_SECONDS):
        yield


@asynccontextmanager
async def counting_permits(url: str, samples: Samples, permits_max: int | None) -> AsyncIterator[None]:
    """Sample how many permits are out while the block runs: source `redis`, metric `permits_out`, directly.

    How many there are is noted as `permits_max`, where the target says. While Redis is away nothing is counted.
    """
    if permits_max is not None:
        samples.note(REDIS, "permits_max", float(permits_max))

    async def keep() -> None:
        async with redis.from_url(
            url, socket_timeout=COUNT_SECONDS, socket_connect_timeout=COUNT_SECONDS
        ) as client:
            while not stop.is_set():
                with contextlib.suppress(RedisError, OSError):
                    out, _ = await _permits(client)
                    samples.note(REDIS, "permits_out", float(out))
                await pause(stop, EVERY_SECONDS)

    # A cancellation would not do: where it meets the client's own timeout, the client tells of the timeout alone.
    stop = asyncio.Event()
    task = asyncio.create_task(keep(), name="permits")
    try:
        yield
    finally:
        stop.set()
        await asyncio.wait({task}, timeout=ASK_SECONDS)
        task.cancel()
        await asyncio.wait({task}, timeout=ASK_SECONDS)


async def look_at_redis(url: str, samples: Samples, *, within_seconds: float = REST_SECONDS) -> None:
    """Sample Redis at rest: source `redis`, metrics `immortal_keys`, `permits` and `permit_lease_seconds`.

    A permit is a member of a sorted set by deadline (ms) whose key has `permits` in its name; one that is kept in any
    other way has no lease. While some are out it waits for them. A Redis that does not answer leaves no sample.
    """
    async with redis.from_url(url, socket_timeout=ASK_SECONDS, socket_connect_timeout=ASK_SECONDS) as client:
        try:
            longest = 0.0
            bound = time.monotonic() + within_seconds

            async def came_back() -> bool | None:
                nonlocal longest
                out, lease_seconds = await _permits(client)
                longest = max(longest, lease_seconds)
                if out and lease_seconds and time.monotonic() < bound:
                    return None
                samples.note(REDIS, "permits", float(out))
                return True

            await until(
                came_back,
                within_seconds=within_seconds + ASK_SECONDS,
                failing=lambda problem: LabError(f"Redis did not answer: {problem}"),
                every_seconds=EVERY_SECONDS,
            )
            samples.note(REDIS, "permit_lease_seconds", longest)
            samples.note(REDIS, "immortal_keys", float(await _immortal(client)))
        except (RedisError, LabError):
            return


async def _permits(client: Any) -> tuple[int, float]:
    """Return how many permits are out, and for how many seconds the longest lease still runs."""
    seconds, micros = await client.time()
    now_ms = seconds * 1_000 + micros / 1_000
    out, longest = 0, 0.0
    async for key in client.scan_iter(match=PERMITS, count=KEYS_MAX):
        kind = (await client.type(key)).decode()
        if kind == "zset":
            deadlines = [
                score for _, score in await client.zrange(key, 0, -1, withscores=True) if score > now_ms
            ]
            out += len(deadlines)
            longest = max([longest, *((deadline - now_ms) / 1_000 for deadline in deadlines)])
        elif kind == "string":
            out += int(await client.get(key) or 0)
        elif kind == "set":
            out += int(await client.scard(key))
    return out, longest


async def _immortal(client: Any) -> int:
    """Count the keys that have no time to live."""
    found = 0
    async for key in client.scan_iter(count=KEYS_MAX):
        found += await client.pttl(key) == -1
    return found
