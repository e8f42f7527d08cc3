"""PostgreSQL or the network gone for a while: bounded refusals, no false word, and service again without a restart."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import asyncpg
import pytest

from service import errors
from service.database import Database
from service.errors import Refused
from service.reservation import idempotency
from tests.integration.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable


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


async def test_work_that_met_a_silent_server_is_not_rolled_back_over_the_same_line(
    dsn: str, make_settings: Callable[..., Any]
) -> None:
    """Nothing is lost by cutting it, and a ROLLBACK would wait for as long again."""
    parts, silent = urlsplit(dsn), False

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection(parts.hostname, parts.port)

        async def pipe(near: asyncio.StreamReader, far: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                while data := await near.read(65_536):
                    if not silent:
                        far.write(data)
            far.close()

        await asyncio.gather(pipe(reader, far_writer), pipe(far_reader, writer))

    async def work(connection: Any) -> None:
        nonlocal silent
        silent = True
        await connection.execute("SELECT 1")

    async with await asyncio.start_server(carry, "127.0.0.1", 0) as line:
        near = dsn.replace(f":{parts.port}/", f":{line.sockets[0].getsockname()[1]}/")
        pool = await Database.open(
            make_settings(database_url=near, command_timeout_ms=2_000), application="test"
        )
        began = time.monotonic()
        with pytest.raises(Refused) as refused:
            await pool.transaction(work)
        took = time.monotonic() - began
        await pool.close()
    assert refused.value.refusal.code == "DATABASE_UNAVAILABLE"
    assert took < 3.5  # once the timeout; twice would be four


async def test_a_server_that_only_reads_is_no_failure_and_is_left_for_another(service: Any) -> None:
    """What a failover leaves behind an address for a while: it answers, and refuses every change."""
    room, alice, path = await service.resource(9), service.person("alice"), "/api/resources/{}/holds"
    hold = (await alice.post(path.format(room), {})).json["id"]
    name = await service.sql.fetchval("SELECT current_database()")
    ended = "SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'reservation-node'"
    await service.sql.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    gone = [row["pid"] for row in await service.sql.fetch(ended)]
    # Sessions of before may still write until they have heard of it.
    there = "SELECT count(*) = 0 FROM pg_stat_activity WHERE pid = ANY ($1)"
    await until(lambda: service.sql.fetchval(there, gone), "the end of the sessions of before")
    refused = [
        await alice.post(target, {})
        for target in (path.format(room), path.format(room), f"/api/holds/{hold}/cancel")
    ]
    await service.sql.execute("SET default_transaction_read_only = off")
    await service.sql.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")

    again = await alice.post(path.format(room), {})

    assert {(answer.status, answer.json["code"]) for answer in refused[1:]} == {(503, "DATABASE_UNAVAILABLE")}
    assert again.status == 201


async def test_a_commit_that_rolled_back_is_not_taken_for_one(
    pool: Database, sql: asyncpg.Connection, room: Callable[..., Any]
) -> None:
    """PostgreSQL answers the COMMIT of a failed transaction with ROLLBACK, which is no error."""
    free = await room(capacity=5)

    async def work(connection: Any) -> None:
        await connection.execute("UPDATE resources SET revision = 99 WHERE id = $1", free)
        with suppress(asyncpg.PostgresError):
            await connection.execute("SELECT 1 / 0")

    with pytest.raises(RuntimeError, match="rolled back"):
        await pool.transaction(work)
    assert await sql.fetchval("SELECT revision FROM resources WHERE id = $1", free) == 0


async def test_a_final_refusal_that_could_not_be_stored_leaves_its_key_free(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, alice = await service.resource(1), service.person("alice")

    async def away(*_: Any, **__: Any) -> None:
        raise Refused(errors.DATABASE_UNAVAILABLE)

    with monkeypatch.context() as outage:
        outage.setattr(idempotency, "finalize", away)
        refused = await alice.post(f"/api/resources/{room}/waitlist", key="w")
    assert (refused.status, refused.json["code"]) == (503, "DATABASE_UNAVAILABLE")

    retry = await alice.post(f"/api/resources/{room}/waitlist", key="w")
    assert (retry.status, retry.json["code"]) == (409, "SEATS_AVAILABLE")
