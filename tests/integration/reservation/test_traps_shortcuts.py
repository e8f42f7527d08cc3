"""Shortcuts that others took and that were tried here: each goes wrong on real PostgreSQL, and the service's way does not."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from service.reservation import handover, holds, idempotency, resources
from service.reservation.holds import Order
from service.reservation.idempotency import InProgress, New, Scope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Room = Callable[..., Awaitable[int]]

SCOPE = Scope(tenant="demo", operation="waitlist.join", key="key")
HOLD = """INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                             expires_at)
          VALUES ('demo', $1, 'x', 'k', 1, 1, now(), now() + interval '1 h')"""


async def test_a_guard_that_counts_the_holds_inside_the_update_sells_the_seat_twice(
    sessions: Any, sql: Any, room: Room
) -> None:
    free = await room(capacity=1)
    await sql.execute("ALTER TABLE resources DROP CONSTRAINT resources_never_oversold")
    first, second = await sessions.open(), await sessions.open()
    naive = """UPDATE resources AS r SET occupied_count = occupied_count + 1, revision = revision + 1
               WHERE id = $1 AND (SELECT count(*) FROM holds WHERE resource_id = r.id AND state = 'ACTIVE') < capacity
               RETURNING occupied_count"""
    async with first.transaction():
        assert await first.fetchval(naive, free) == 1
        await first.execute(HOLD, free)
        taking = await sessions.blocked(second, second.fetchval(naive, free))
    assert await taking == 2  # the row is judged anew after the wait, the subquery with the old snapshot


async def test_the_services_guard_is_on_the_row_that_it_locked(sessions: Any, sql: Any, room: Room) -> None:
    free = await room(capacity=1)
    await sql.execute("ALTER TABLE resources DROP CONSTRAINT resources_never_oversold")
    first, second = await sessions.open(), await sessions.open()
    orders = [Order(tenant="demo", owner_digest="alice", key=key, resource=free) for key in ("one", "two")]
    async with first.transaction():
        assert (await holds.take(first, orders[0])).status == 201
        taking = await sessions.blocked(second, holds.take(second, orders[1]))
    assert '"CAPACITY_EXHAUSTED"' in (await taking).body
    assert await sql.fetchval("SELECT occupied_count FROM resources WHERE id = $1", free) == 1


async def test_inserting_or_selecting_a_key_in_one_statement_finds_neither(sessions: Any) -> None:
    first, twin = await sessions.open(), await sessions.open()
    naive = """WITH fresh AS (
                   INSERT INTO idempotency_records (tenant, operation, key, fingerprint, owner_token, lease_expires_at)
                   VALUES ('demo', 'waitlist.join', 'key', 'print', $1, now()) ON CONFLICT DO NOTHING RETURNING owner_token)
               SELECT owner_token FROM fresh UNION ALL
               SELECT owner_token FROM idempotency_records WHERE key = 'key'"""
    async with first.transaction():
        assert await first.fetchval(naive, "first") == "first"
        asking = await sessions.blocked(twin, twin.fetch(naive, "twin"))
    assert await asking == []  # not inserted, and not seen


async def test_the_services_twin_finds_the_key_that_it_waited_for(sessions: Any) -> None:
    first, twin = await sessions.open(), await sessions.open()

    async def acquire(session: Any, token: str) -> Any:
        return await idempotency.acquire(session, SCOPE, "print", token, lease=timedelta(seconds=90))

    async with first.transaction():
        assert isinstance(await acquire(first, "first"), New)
        asking = await sessions.blocked(twin, acquire(twin, "twin"))
    assert isinstance(await asking, InProgress)


@pytest.fixture
async def line(sql: Any, room: Room) -> int:
    """A full resource with two waiters, the first of them with the lower number."""
    full = await room(capacity=2, occupied=2)
    await sql.execute(
        """INSERT INTO waitlist_entries (tenant, resource_id, seq, owner_digest, idempotency_key, created_at)
           SELECT 'demo', $1, n, 'waiter-' || n, 'k', now() FROM generate_series(1, 2) AS n""",
        full,
    )
    return full


async def test_skipping_locked_waiters_offers_the_seat_to_the_second_in_line(
    sessions: Any, line: int
) -> None:
    first, second = await sessions.open(), await sessions.open()
    naive = """SELECT seq FROM waitlist_entries WHERE resource_id = $1 AND state = 'WAITING'
               ORDER BY seq LIMIT 1 FOR UPDATE SKIP LOCKED"""
    transaction = first.transaction()
    await transaction.start()
    assert await first.fetchval(naive, line) == 1
    assert await second.fetchval(naive, line) == 2
    await transaction.rollback()  # and now the second has an offer, and the first has none


async def test_the_service_waits_and_offers_it_to_the_first(sessions: Any, sql: Any, line: int) -> None:
    first, second = await sessions.open(), await sessions.open()

    async def hand_over(session: Any) -> None:
        locked = await resources.lock(session, tenant="demo", resource=line)
        await handover.promote_or_release(session, locked, 1, await resources.clock(session))

    async def second_hand_over() -> None:
        async with second.transaction():
            await hand_over(second)

    transaction = first.transaction()
    await transaction.start()
    await hand_over(first)
    waiting = await sessions.blocked(second, second_hand_over())
    await transaction.rollback()
    await waiting
    states = await sql.fetch("SELECT state FROM waitlist_entries ORDER BY seq")
    assert [row["state"] for row in states] == ["OFFERED", "WAITING"]
