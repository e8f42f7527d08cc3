"""PostgreSQL or the network gone for a while: bounded refusals, no false word, and service again without a restart."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    import asyncpg

    from service.database import Database


async def test_a_silent_database_costs_a_bounded_time_and_is_told_as_such(
    start: Callable[..., Any], silent_port: int
) -> None:
    service = await start(
        database_url=f"postgresql://x:y@127.0.0.1:{silent_port}/z", connect_ms=200, pool_acquire_ms=300
    )
    began = time.monotonic()
    answers = await asyncio.gather(
        *(service.person("alice").post("/api/resources/1/holds", {}) for _ in range(20))
    )
    assert {(answer.status, answer.json["code"]) for answer in answers} <= {
        (503, "DATABASE_UNAVAILABLE"),
        (503, "POOL_EXHAUSTED"),
    }
    assert time.monotonic() - began < 5
    live = await service.person("alice").get("/health/live")
    assert live.status == 200


async def test_sessions_that_the_server_ended_are_replaced_without_a_restart(service: Any) -> None:
    room = await service.resource(100)
    alice = service.person("alice")
    await asyncio.gather(*(alice.post(f"/api/resources/{room}/holds", {}) for _ in range(8)))
    await service.sql.execute(
        """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE application_name = 'reservation-node' AND datname = current_database()"""
    )

    answers = await asyncio.gather(*(alice.post(f"/api/resources/{room}/holds", {}) for _ in range(8)))

    told = {(answer.status, answer.json.get("code")) for answer in answers}
    assert told <= {(201, None), (503, "DATABASE_UNAVAILABLE"), (503, "OUTCOME_UNKNOWN")}
    assert (await alice.post(f"/api/resources/{room}/holds", {})).status == 201


async def test_a_session_ended_inside_a_transaction_leaves_nothing_and_is_definite(
    pool: Database, sql: asyncpg.Connection, room: Callable[..., Any]
) -> None:
    free = await room(capacity=5)

    async def work(connection: Any) -> None:
        await connection.execute("UPDATE resources SET revision = 99 WHERE id = $1", free)
        await sql.execute(
            "SELECT pg_terminate_backend($1)", await connection.fetchval("SELECT pg_backend_pid()")
        )
        await connection.execute("SELECT 1")

    with pytest.raises(Refused) as refused:
        await pool.transaction(work)
    assert refused.value.refusal.code == "DATABASE_UNAVAILABLE"
    assert await sql.fetchval("SELECT revision FROM resources WHERE id = $1", free) == 0
    assert await pool.read(lambda connection: connection.fetchval("SELECT 1")) == 1


async def test_a_cancelled_transaction_gives_its_connection_back_clean(
    pool: Database, sql: asyncpg.Connection, room: Callable[..., Any], until: Callable[..., Any]
) -> None:
    """A cancel in the middle of a statement must leave neither an open transaction nor a lost connection."""
    free = await room(capacity=5)
    async with sql.transaction():
        await sql.execute("SELECT FROM resources WHERE id = $1 FOR UPDATE", free)
        tasks = [
            asyncio.ensure_future(
                pool.transaction(
                    lambda connection: connection.execute(
                        "UPDATE resources SET revision = 9 WHERE id = $1", free
                    )
                )
            )
            for _ in range(16)
        ]
        waits = "SELECT count(*) = 16 FROM pg_locks WHERE NOT granted"
        await until(lambda: sql.fetchval(waits), "sixteen waits for the row")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    assert pool.in_use == 0
    fates = await asyncio.gather(
        *(pool.read(lambda connection: connection.fetchval("SELECT pg_sleep(0.01)")) for _ in range(16))
    )
    assert len(fates) == 16
    left = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%' AND application_name = 'test'"
    assert await sql.fetchval(left) == 0
    assert await sql.fetchval("SELECT revision FROM resources WHERE id = $1", free) == 0
