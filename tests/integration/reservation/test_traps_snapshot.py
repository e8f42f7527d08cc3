"""One statement is one snapshot: each naive form goes wrong on real PostgreSQL, and the service's does not."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from service.reservation import handover, holds, resources
from service.reservation.holds import Order

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Room = Callable[..., Awaitable[int]]

LEAVE_ONE = "UPDATE resources SET occupied_count = occupied_count - 1, revision = revision + 1 WHERE id = $1"
INSERT_HOLD = """INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version,
                                    created_at, expires_at)
                 VALUES ('demo', $1, 'x', 'k', 1, 1, now(), now() + interval '1 h') RETURNING id"""
JOIN = """INSERT INTO waitlist_entries (tenant, resource_id, seq, owner_digest, idempotency_key, created_at)
          VALUES ('demo', $1, nextval('waitlist_seq'), 'bob', 'k', now())"""


def _order(room: int, key: str = "key", **more: Any) -> Order:
    return Order(tenant="demo", owner_digest="alice", key=key, resource=room, **more)


async def test_naive_conditions_on_the_updated_row_refuse_a_seat_freed_meanwhile(
    sessions: Any, room: Room
) -> None:
    full = await room(capacity=1, occupied=1)
    leaver, taker = await sessions.open(), await sessions.open()
    naive = """WITH locked AS MATERIALIZED (SELECT id FROM resources WHERE id = $1 FOR NO KEY UPDATE)
               UPDATE resources AS r SET occupied_count = occupied_count + 1 FROM locked
               WHERE r.id = locked.id AND r.occupied_count < r.capacity RETURNING r.id"""
    async with leaver.transaction():
        await leaver.execute(LEAVE_ONE, full)
        taking = await sessions.blocked(taker, taker.fetchval(naive, full))

    assert await taking is None  # refused, though the row it locked had a free seat


async def test_a_seat_freed_while_the_hold_waited_is_taken(sessions: Any, room: Room) -> None:
    full = await room(capacity=1, occupied=1)
    leaver, taker = await sessions.open(), await sessions.open()
    async with leaver.transaction():
        await leaver.execute(LEAVE_ONE, full)
        taking = await sessions.blocked(taker, holds.take(taker, _order(full)))

    assert (await taking).status == 201


async def test_the_reason_for_a_refusal_is_that_of_the_locked_row(sessions: Any, room: Room) -> None:
    free = await room(capacity=1)
    winner, loser = await sessions.open(), await sessions.open()
    naive = """WITH taken AS (UPDATE resources SET occupied_count = occupied_count + 1
                              WHERE id = $1 AND occupied_count < capacity RETURNING id)
               SELECT (SELECT count(*) FROM taken) AS taken, capacity - occupied_count AS free
               FROM resources WHERE id = $1"""
    async with winner.transaction():
        await winner.execute("UPDATE resources SET occupied_count = 1 WHERE id = $1", free)
        losing = await sessions.blocked(loser, loser.fetchrow(naive, free))
    assert dict(await losing) == {
        "taken": 0,
        "free": 1,
    }  # the naive one: refused, and told that a seat is free

    again = await room(capacity=1)
    async with winner.transaction():
        await winner.execute("UPDATE resources SET state = 'CLOSED' WHERE id = $1", again)
        losing = await sessions.blocked(loser, holds.take(loser, _order(again)))
    assert '"RESOURCE_CLOSED"' in (await losing).body


async def test_naive_locking_and_reading_in_one_statement_misses_the_waiter(
    sessions: Any, room: Room
) -> None:
    full = await room(capacity=1, occupied=1)
    joiner, leaver = await sessions.open(), await sessions.open()
    naive = """WITH locked AS MATERIALIZED (SELECT id FROM resources WHERE id = $1 FOR NO KEY UPDATE)
               SELECT count(e.id) FROM locked LEFT JOIN waitlist_entries AS e
               ON e.resource_id = locked.id AND e.state = 'WAITING'"""
    async with joiner.transaction():
        await joiner.execute("SELECT FROM resources WHERE id = $1 FOR NO KEY UPDATE", full)
        await joiner.execute(JOIN, full)
        leaving = await sessions.blocked(leaver, leaver.fetchval(naive, full))

    assert await leaving == 0  # the waiter committed before the lock was had, and is not seen


async def test_the_waiter_who_committed_before_the_lock_was_had_gets_the_seat(
    sessions: Any, room: Room
) -> None:
    full = await room(capacity=1, occupied=1)
    joiner, leaver = await sessions.open(), await sessions.open()

    async def leave() -> int:
        async with leaver.transaction():
            locked = await resources.lock(leaver, tenant="demo", resource=full)
            return await handover.promote_or_release(leaver, locked, 1, await resources.clock(leaver))

    async with joiner.transaction():
        await joiner.execute("SELECT FROM resources WHERE id = $1 FOR NO KEY UPDATE", full)
        await joiner.execute(JOIN, full)
        leaving = await sessions.blocked(leaver, leave())

    assert await leaving == 1
    assert await sessions.watcher.fetchval("SELECT occupied_count FROM resources") == 1


async def test_a_child_row_before_a_full_lock_deadlocks_through_the_foreign_key(
    sessions: Any, room: Room
) -> None:
    free = await room(capacity=5)
    one, two = await sessions.open(), await sessions.open()
    for session in (one, two):
        await session.execute("BEGIN")
        await session.execute(INSERT_HOLD, free)
    naive = "SELECT id FROM resources WHERE id = $1 FOR UPDATE"
    waiting = await sessions.blocked(one, one.fetchval(naive, free))
    fates = await asyncio.gather(waiting, two.fetchval(naive, free), return_exceptions=True)
    assert sum(isinstance(fate, asyncpg.DeadlockDetectedError) for fate in fates) == 1


async def test_the_services_lock_comes_first_and_does_not_wait_for_child_rows(
    sessions: Any, room: Room
) -> None:
    free = await room(capacity=5)
    one, two = await sessions.open(), await sessions.open()
    await one.execute("BEGIN")
    await one.execute(INSERT_HOLD, free)
    await two.execute("BEGIN")
    assert (await resources.lock(two, tenant="demo", resource=free))["id"] == free


async def test_a_sibling_ctes_row_cannot_be_updated_so_answers_are_inserted(sql: Any) -> None:
    await sql.execute("CREATE TEMP TABLE answers (key text PRIMARY KEY, body text)")
    updated = await sql.fetch(
        """WITH claimed AS (INSERT INTO answers VALUES ('key', NULL) RETURNING key)
           UPDATE answers SET body = 'stored' FROM claimed WHERE answers.key = claimed.key RETURNING body"""
    )
    assert updated == []
    assert await sql.fetchval("SELECT body FROM answers") is None


@pytest.mark.parametrize("held_by_a_twin", [True, False])
async def test_a_twin_waits_for_the_first_and_then_touches_nothing(
    sessions: Any, room: Room, held_by_a_twin: bool
) -> None:
    free = await room(capacity=5)
    first, twin = await sessions.open(), await sessions.open()
    transaction = first.transaction()
    await transaction.start()
    assert (await holds.take(first, _order(free))).status == 201
    waiting = await sessions.blocked(twin, holds.take(twin, _order(free)))
    await (transaction.commit() if held_by_a_twin else transaction.rollback())

    answer = await waiting
    assert (answer is None) is held_by_a_twin  # after a rollback the twin is the first
    assert await sessions.watcher.fetchval("SELECT occupied_count FROM resources") == 1


async def test_rivals_and_twins_together_leave_one_hold_a_seat_and_one_answer_a_key(
    pool: Any, room: Room, sql: Any
) -> None:
    """100 seats × 10 rivals × 3 twins, seat by seat: 100 holds, 1,000 keys, and every twin is told the same."""
    rooms = [await room(capacity=1) for _ in range(100)]

    async def place(seat: int, rival: int) -> tuple[str, int, str]:
        key = f"{seat}-{rival}"
        answered = await holds.place(pool, _order(rooms[seat], key), lease=timedelta(seconds=90))
        return key, answered.answer.status, answered.answer.body

    crowd = [(seat, rival) for seat in range(100) for rival in range(10) for _ in range(3)]
    at_once = asyncio.Semaphore(200)  # more would only wait for a connection, and be refused one

    async def come(seat: int, rival: int) -> tuple[str, int, str]:
        async with at_once:
            return await place(seat, rival)

    told = await asyncio.gather(*(come(seat, rival) for seat, rival in crowd))

    assert len(set(told)) == 1_000  # one answer a key, byte for byte
    assert sum(status == 201 for _, status, _ in set(told)) == 100
    assert await sql.fetchval("SELECT count(*) FROM holds") == 100
    assert await sql.fetchval("SELECT count(*) FROM idempotency_answers") == 1_000
    assert await sql.fetchval("SELECT array_agg(DISTINCT occupied_count) FROM resources") == [1]
