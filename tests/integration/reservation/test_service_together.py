"""The statement that decides several holds together decides each as it would have been one after another."""

from __future__ import annotations

import json
import random
from typing import Any

import asyncpg
import pytest

from service.reservation import holds
from service.reservation.together import take_together
from tests.integration.reservation.rivals import an_order

LEFT_BEHIND = (
    "SELECT occupied_count, revision FROM resources WHERE id = $1",
    """SELECT split_part(idempotency_key, '-', 2), owner_digest, quantity, state, policy_version, expires_at - created_at
       FROM holds WHERE resource_id = $1 ORDER BY id""",
    """SELECT split_part(key, '-', 2) AS place, status,
              (body::jsonb - '{id,resourceId,createdAt,expiresAt}'::text[])::text
       FROM idempotency_records JOIN idempotency_answers ON record_id = id
       WHERE key LIKE $1::bigint || '-%' ORDER BY place""",
)


def told(answer: Any) -> Any:
    """An answer without what two resources cannot share."""
    if answer is None:
        return None
    own = ("id", "resourceId", "createdAt", "expiresAt")
    return answer.status, {name: value for name, value in json.loads(answer.body).items() if name not in own}


@pytest.mark.parametrize("seed", range(12))
async def test_together_is_as_one_after_another(seed: int, sql: Any, room: Any) -> None:
    draw = random.Random(seed)
    capacity = draw.randint(0, 25)
    occupied = draw.randint(0, capacity)
    rooms = await room(capacity, occupied), await room(capacity, occupied)
    size = draw.randint(1, 20)
    asked = [
        {
            "quantity": draw.choice([1, 1, 1, 2, 3, 7]),
            "expected_revision": draw.choice([None, None, occupied + place, occupied + draw.randint(0, 4)]),
            "owner_digest": f"owner {place % 3}",
        }
        for place in range(size)
    ]
    apart, joint = (
        [an_order(one, f"{one}-{place}", **more) for place, more in enumerate(asked)] for one in rooms
    )
    known = draw.sample(range(size), size // 4)
    for place in known:
        for orders in (apart, joint):
            await holds.take(sql, orders[place])

    expected = [await holds.take(sql, order) for order in apart]
    answers = await take_together(sql, joint)

    assert [told(answer) for answer in answers] == [told(answer) for answer in expected]
    assert [place for place, answer in enumerate(answers) if answer is None] == sorted(known)
    for query in LEFT_BEHIND:
        left = [[tuple(row) for row in await sql.fetch(query, one)] for one in rooms]
        assert left[0] == left[1]


async def test_whoever_is_refused_takes_nothing_from_those_behind(sql: Any, room: Any) -> None:
    seats = await room(3)

    answers = await take_together(
        sql, [an_order(seats, f"k{place}", quantity=q) for place, q in enumerate([2, 2, 1, 1])]
    )

    assert [answer.status for answer in answers if answer] == [201, 409, 201, 409]
    assert await sql.fetchval("SELECT occupied_count FROM resources") == 3


async def test_an_expected_revision_is_that_which_those_before_it_left(sql: Any, room: Any) -> None:
    seats = await room(9)

    answers = await take_together(
        sql, [an_order(seats, f"k{place}", expected_revision=r) for place, r in enumerate([0, 0, 1, None, 3])]
    )

    assert [json.loads(answer.body).get("resourceRevision") for answer in answers if answer] == [
        1,
        None,
        2,
        3,
        4,
    ]
    assert await sql.fetchval("SELECT revision FROM resources") == 4


async def test_the_wait_for_the_row_is_behind_a_decision_and_its_time(
    sql: Any, room: Any, sessions: Any
) -> None:
    seats = await room(2)
    blocker, waiter = await sessions.open(), await sessions.open()
    await blocker.execute("BEGIN")
    await blocker.execute("UPDATE resources SET occupied_count = 1, revision = 7, hold_ttl = '9 s'")
    deciding = await sessions.blocked(
        waiter, take_together(waiter, [an_order(seats, "a"), an_order(seats, "b")])
    )
    freed_at = await sql.fetchval("SELECT clock_timestamp()")
    await blocker.execute("COMMIT")

    first, second = await deciding

    assert (first.status, json.loads(first.body)["resourceRevision"]) == (201, 8)
    assert json.loads(second.body)["code"] == "CAPACITY_EXHAUSTED"
    held = await sql.fetchrow(
        "SELECT created_at > $1 AS later, expires_at - created_at AS life FROM holds", freed_at
    )
    assert (held["later"], held["life"].total_seconds()) == (True, 9)


async def test_all_keys_come_in_one_order_and_before_the_row(sql: Any, room: Any, sessions: Any) -> None:
    """Or twins at two nodes would wait for each other: one with the row, the other with a key."""
    here, there = await room(5), await room(5)
    blocker, waiter = await sessions.open(), await sessions.open()
    await blocker.execute("BEGIN")
    await holds.take(blocker, an_order(there, "m"))
    orders = [an_order(here, key) for key in ("z", "a", "m")]
    deciding = await sessions.blocked(waiter, take_together(waiter, orders))

    await sql.execute("SELECT FROM resources WHERE id = $1 FOR NO KEY UPDATE NOWAIT", here)
    await sql.execute("SET lock_timeout = '50ms'")
    with pytest.raises(asyncpg.LockNotAvailableError):  # `a` is there already, and …
        await holds.take(sql, an_order(here, "a"))
    assert await holds.take(sql, an_order(here, "z")) is not None  # … `z` is not yet

    await blocker.execute("COMMIT")
    z, a, m = await deciding
    assert (z, a is not None, m) == (None, True, None)
