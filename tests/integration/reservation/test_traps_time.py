"""Time is the database's, read after the last lock: each naive form goes wrong on real PostgreSQL."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from service.errors import Refused
from service.reservation import holds, resources
from service.reservation.rules import Action
from service.session import connection_options

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Room = Callable[..., Awaitable[int]]

NAIVE_LOCK = "SELECT id, clock_timestamp() AS at FROM resources WHERE id = $1 FOR NO KEY UPDATE"


async def _hold(sql: Any, room: int, seconds: float) -> int:
    made: int = await sql.fetchval(
        """INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                              expires_at)
           VALUES ('demo', $1, 'alice', 'k', 1, 1, clock_timestamp(), clock_timestamp() + $2 * interval '1 s')
           RETURNING id""",
        room,
        seconds,
    )
    return made


async def _past(sql: Any, hold: int) -> None:
    """Return once the hold's time is over by the database's clock."""
    await sql.fetchval(
        "SELECT pg_sleep(extract(epoch FROM expires_at - clock_timestamp()) + 0.01) FROM holds WHERE id = $1",
        hold,
    )


async def test_a_clock_in_the_locking_statements_own_columns_is_read_before_the_lock(
    sessions: Any, room: Room
) -> None:
    free = await room()
    blocker, waiter = await sessions.open(), await sessions.open()
    async with blocker.transaction():
        await blocker.execute("SELECT FROM resources WHERE id = $1 FOR NO KEY UPDATE", free)
        naive = await sessions.blocked(waiter, waiter.fetchrow(NAIVE_LOCK, free))
        released = await blocker.fetchval("SELECT clock_timestamp()")
    assert (await naive)["at"] < released

    async with blocker.transaction():
        await blocker.execute("SELECT FROM resources WHERE id = $1 FOR NO KEY UPDATE", free)
        waiting = await sessions.blocked(waiter, resources.lock(waiter, tenant="demo", resource=free))
        released = await blocker.fetchval("SELECT clock_timestamp()")
    await waiting
    assert await resources.clock(waiter) > released


async def test_now_stands_still_in_a_transaction(sessions: Any) -> None:
    session = await sessions.open()
    async with session.transaction():
        began = await session.fetchval("SELECT now()")
        await session.execute("SELECT pg_sleep(0.05)")
        assert await session.fetchval("SELECT now()") == began
        assert await resources.clock(session) > began


async def test_a_deadline_in_a_single_update_is_not_looked_at_again_after_the_wait(
    sessions: Any, sql: Any, room: Room
) -> None:
    """The blocker only locked: PostgreSQL has no new row to judge, and lets the stale judgement stand."""
    blocker, confirmer = await sessions.open(), await sessions.open()
    # Its time has to be over after the wait began, and on a busy machine even that takes a while.
    hold = await _hold(sql, await room(occupied=1), 1.5)
    naive = """UPDATE holds SET state = 'CONFIRMED', ended_at = clock_timestamp()
               WHERE id = $1 AND state = 'ACTIVE' AND expires_at > clock_timestamp() RETURNING clock_timestamp() > expires_at AND ended_at < expires_at"""
    async with blocker.transaction():
        await blocker.execute("SELECT FROM holds WHERE id = $1 FOR UPDATE", hold)
        confirming = await sessions.blocked(confirmer, confirmer.fetchval(naive, hold))
        await _past(sql, hold)
    assert await confirming is True  # confirmed after its time, and even the stored instant lies


async def test_a_confirm_that_waited_past_the_deadline_is_refused(
    sessions: Any, sql: Any, room: Room
) -> None:
    blocker, confirmer = await sessions.open(), await sessions.open()
    free = await room(occupied=1)
    hold = await _hold(sql, free, 1.5)

    async def confirm() -> None:
        async with confirmer.transaction():
            await holds.confirm(confirmer, Action(tenant="demo", owner_digest="alice", id=hold))

    async with blocker.transaction():
        await blocker.execute("SELECT FROM resources WHERE id = $1 FOR NO KEY UPDATE", free)
        confirming = await sessions.blocked(confirmer, confirm())
        assert await sql.fetchval("SELECT expires_at > clock_timestamp() FROM holds WHERE id = $1", hold)
        await _past(sql, hold)
    with pytest.raises(Refused) as refused:
        await confirming
    assert refused.value.refusal.code == "HOLD_EXPIRED"
    assert await sql.fetchval("SELECT state FROM holds WHERE id = $1", hold) == "ACTIVE"


async def test_a_hold_lives_from_when_its_lock_was_had(sessions: Any, room: Room) -> None:
    free = await room()
    blocker, taker = await sessions.open(), await sessions.open()
    order = holds.Order(tenant="demo", owner_digest="alice", key="k", resource=free)
    async with blocker.transaction():
        await blocker.execute("SELECT FROM resources WHERE id = $1 FOR NO KEY UPDATE", free)
        taking = await sessions.blocked(taker, holds.take(taker, order))
        released = await blocker.fetchval("SELECT clock_timestamp()")
    await taking
    row = await sessions.watcher.fetchrow("SELECT created_at, expires_at - created_at AS life FROM holds")
    assert row["created_at"] > released
    assert row["life"].total_seconds() == 60


async def test_a_paused_client_does_not_hold_a_hot_row_for_ever(
    make_settings: Callable[..., Any], sessions: Any, room: Room
) -> None:
    free = await room()
    naive = await sessions.open()
    assert await naive.fetchval("SHOW idle_in_transaction_session_timeout") == "0"
    assert await naive.fetchval("SHOW lock_timeout") == "0"

    options = connection_options(make_settings(idle_in_transaction_timeout_ms=200), "paused")
    paused = await asyncpg.connect(**options)
    # In one message: between two, the client of a busy machine could be idle for so long already.
    await paused.execute(f"BEGIN; SELECT FROM resources WHERE id = {free} FOR NO KEY UPDATE")

    async with asyncio.timeout(5):
        assert await naive.fetchval("SELECT id FROM resources WHERE id = $1 FOR NO KEY UPDATE", free) == free
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)):
        await paused.execute("COMMIT")
    paused.terminate()


async def test_every_connection_carries_every_timeout(pool: Any, settings: Any) -> None:
    async def shown(connection: Any) -> dict[str, int]:
        rows = await connection.fetch(
            "SELECT name, setting::int AS ms FROM pg_settings WHERE name LIKE '%timeout' AND source = 'client'"
        )
        return {row["name"]: row["ms"] for row in rows}

    assert await pool.read(shown) == {
        "lock_timeout": settings.lock_timeout_ms,
        "statement_timeout": settings.statement_timeout_ms,
        "transaction_timeout": settings.transaction_timeout_ms,
        "idle_in_transaction_session_timeout": settings.idle_in_transaction_timeout_ms,
        "tcp_user_timeout": settings.tcp_user_timeout_ms,
    }
    assert settings.transaction_timeout_ms / 1_000 < settings.leader_lease_seconds
