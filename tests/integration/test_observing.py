"""What the servers themselves tell of a run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import asyncpg
import pyarrow.parquet as pq
import redis.asyncio as redis

from lastseat.observing import counting_permits, look_at_redis, observing
from lastseat.samples import sampling

if TYPE_CHECKING:
    from pathlib import Path


def taken(folder: Path, source: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for row in pq.read_table(folder / "samples.parquet").to_pylist():
        if row["source"] == source:
            found.setdefault(row["metric"], []).append(row["value"])
    return found


async def test_a_transaction_that_idles_and_a_lock_that_is_kept_are_seen(
    database: str, tmp_path: Path
) -> None:
    connection = await asyncpg.connect(database)
    await connection.execute("SELECT pg_advisory_lock(7)")
    await connection.execute("BEGIN")
    async with sampling(tmp_path) as samples, observing(database, samples):
        pass
    await connection.close()
    seen = taken(tmp_path, "database")
    assert seen["idle_in_transaction"][-1] == 1
    assert seen["advisory_locks"][-1] == 1
    assert seen["idle_in_transaction_seconds"][-1] > 0


async def test_the_bench_itself_is_not_seen(database: str, tmp_path: Path) -> None:
    connection = await asyncpg.connect(database, server_settings={"application_name": "lastseat trail"})
    await connection.execute("SELECT pg_advisory_lock(7)")
    async with sampling(tmp_path) as samples, observing(database, samples):
        pass
    await connection.close()
    seen = taken(tmp_path, "database")
    assert (seen["sessions"][-1], seen["advisory_locks"][-1]) == (0, 0)


async def test_permits_are_waited_for_until_their_leases_are_over(redis_url: str, tmp_path: Path) -> None:
    async with redis.from_url(redis_url) as client:
        seconds, _ = await client.time()
        await client.zadd("service:permits", {"over": (seconds - 5) * 1_000, "killed": (seconds + 2) * 1_000})
        await client.pexpire("service:permits", 60_000)
    async with sampling(tmp_path) as samples:
        await look_at_redis(redis_url, samples)
    seen = taken(tmp_path, "redis")
    assert (seen["permits"], seen["immortal_keys"]) == ([0], [0])
    assert 0 < seen["permit_lease_seconds"][0] <= 2


async def test_permits_are_counted_while_a_run_lasts(redis_url: str, tmp_path: Path) -> None:
    async with redis.from_url(redis_url) as client:
        seconds, _ = await client.time()
        await client.zadd("service:permits", {"lapsed": (seconds - 5) * 1_000, "out": (seconds + 60) * 1_000})
        async with sampling(tmp_path) as samples, counting_permits(redis_url, samples, 8):
            await asyncio.sleep(0.5)  # it counts ten times a second, and cannot be asked
        await client.flushdb()
    seen = taken(tmp_path, "redis")
    assert (seen["permits_max"], set(seen["permits_out"])) == ([8], {1})


async def test_a_permit_without_a_lease_never_comes_back(redis_url: str, tmp_path: Path) -> None:
    async with redis.from_url(redis_url) as client:
        await client.set("permits", 3)
    async with sampling(tmp_path) as samples:
        await look_at_redis(redis_url, samples)
    seen = taken(tmp_path, "redis")
    assert (seen["permits"], seen["permit_lease_seconds"], seen["immortal_keys"]) == ([3], [0], [1])


async def test_a_redis_that_does_not_answer_leaves_no_sample(tmp_path: Path) -> None:
    async with sampling(tmp_path) as samples:
        await look_at_redis("redis://127.0.0.1:1/0", samples)
    assert taken(tmp_path, "redis") == {}
