"""The queue inside a node, without the service around it: who vanishes, fails or finds nobody in front harms nobody else."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest

from service.errors import Refused
from service.reservation import holds, together
from service.reservation.together import Together
from tests.integration.reservation.rivals import an_order, locked, waiting

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def queue(pool: Any, make_settings: Callable[..., Any]) -> Together:
    return Together(pool, make_settings())


async def test_one_that_the_server_cannot_take_fails_alone(
    queue: Together, room: Any, sql: Any, until: Callable[..., Any]
) -> None:
    seats = await room(9)
    async with locked(sql, seats):
        calls = [
            asyncio.ensure_future(queue.decide(an_order(seats, key))) for key in ("a", "b", "c\x00", "d")
        ]
        await waiting(until, sql)
    answers = await asyncio.gather(*calls, return_exceptions=True)

    assert [getattr(answer, "status", None) for answer in answers] == [201, 201, None, 201]
    assert isinstance(answers[2], asyncpg.PostgresError)
    assert await sql.fetchval("SELECT occupied_count FROM resources") == 3


@pytest.mark.parametrize("vanishing", [0, 2], ids=["the one in front", "one who waits"])
async def test_a_client_that_vanishes_harms_nobody(
    vanishing: int, queue: Together, room: Any, sql: Any, until: Callable[..., Any]
) -> None:
    seats = await room(9)
    async with locked(sql, seats):
        calls = [asyncio.ensure_future(queue.decide(an_order(seats, f"k{n}"))) for n in range(5)]
        await waiting(until, sql)
        calls[vanishing].cancel()
        await asyncio.wait([calls[vanishing]])
    answers = await asyncio.gather(*calls, return_exceptions=True)

    assert isinstance(answers.pop(vanishing), asyncio.CancelledError)
    assert [answer.status for answer in answers if not isinstance(answer, BaseException) and answer] == [
        201
    ] * 4
    # What was sent for the one in front is still decided; one who waits had nothing sent.
    await until(
        lambda: sql.fetchval("SELECT count(*) = $1 FROM holds", 5 if vanishing == 0 else 4), "the holds"
    )


async def test_a_client_that_vanishes_while_it_is_decided_finds_its_answer_later(
    queue: Together, room: Any, sql: Any, until: Callable[..., Any]
) -> None:
    seats = await room(9)
    async with locked(sql, seats):
        calls = [asyncio.ensure_future(queue.decide(an_order(seats, f"k{n}"))) for n in range(4)]
        await waiting(until, sql)
        calls[0].cancel()
        await asyncio.wait([calls[0]])
        await waiting(until, sql, 2)  # it too, and the three others in one statement
        calls[2].cancel()
        await asyncio.wait([calls[2]])
    answers = await asyncio.gather(*calls, return_exceptions=True)

    assert [getattr(answer, "status", None) for answer in answers] == [None, 201, None, 201]
    assert await holds.take(sql, an_order(seats, "k2")) is None
    assert await sql.fetchval("SELECT count(*) FROM holds WHERE idempotency_key = 'k2'") == 1


async def test_who_finds_nobody_in_front_is_decided_by_the_plain_statement(
    queue: Together, room: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seats, hall = await room(9), await room(9)
    monkeypatch.setattr(together, "take_together", None)
    for n in range(3):
        pair = await asyncio.gather(
            queue.decide(an_order(seats, f"s{n}")), queue.decide(an_order(hall, f"h{n}"))
        )
        assert [answer.status for answer in pair if answer] == [201, 201]
    assert not queue._queues


async def test_a_node_without_a_database_tells_everyone(make_settings: Callable[..., Any], pool: Any) -> None:
    queue = Together(pool, make_settings())
    await pool.close()
    calls = await asyncio.gather(
        *(queue.decide(an_order(1, f"k{n}")) for n in range(4)), return_exceptions=True
    )
    assert [type(outcome) for outcome in calls] == [Refused] * 4
    assert not queue._queues
