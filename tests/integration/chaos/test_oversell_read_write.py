"""The mutant sells the last seat twice, and breaks no other rule."""

from __future__ import annotations

import asyncio
import json
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

import asyncpg
import pytest

from chaos import mutants
from service.database import Database
from service.errors import Refused
from service.migrate import migrate
from service.reservation import holds
from service.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from service.reservation.idempotency import Answered

RACES = 20
BUYERS = 10


@pytest.fixture
async def dsn(database: str) -> str:
    await migrate(database)
    return database


@pytest.fixture
async def sql(dsn: str) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(dsn)
    yield connection
    await connection.close()


@pytest.fixture
async def nodes(dsn: str) -> AsyncIterator[list[Database]]:
    """The pools of two nodes on one database, warm."""
    settings = Settings(
        database_url=dsn, redis_url="redis://127.0.0.1:1", token_secret="t" * 32, owner_secret="o" * 32
    )
    opened = [await Database.open(settings, application="test") for _ in range(2)]
    for node in opened:
        await node.warm()
    yield opened
    for node in opened:
        await node.close()


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(holds, "take", holds.take)  # so that it is put back
    mutants.plant("oversell-read-write")


async def resource(sql: asyncpg.Connection, *, capacity: int = 1, state: str = "OPEN") -> int:
    made = await sql.fetchval(
        "INSERT INTO resources (tenant, code, capacity, state, hold_ttl, offer_ttl)"
        " VALUES ('demo', $1, $2, $3, '8 min', '2 min') RETURNING id",
        secrets.token_hex(4), capacity, state,
    )  # fmt: skip
    return int(made)


async def place(node: Database, seat: int, key: str, owner: str = "somebody") -> Answered:
    order = holds.Order(tenant="demo", owner_digest=owner, key=key, resource=seat)
    return await holds.place(node, order, lease=timedelta(seconds=5))


async def race(nodes: list[Database], sql: asyncpg.Connection) -> tuple[int, int]:
    """Have ten buyers on two nodes want one seat; return how many got it, and the occupied count."""
    seat = await resource(sql)
    answers = await asyncio.gather(
        *(place(nodes[buyer % 2], seat, f"{seat}-{buyer}", f"buyer-{buyer}") for buyer in range(BUYERS))
    )
    held = await sql.fetchval("SELECT count(*) FROM holds WHERE resource_id = $1 AND state = 'ACTIVE'", seat)
    assert held == sum(answered.answer.status == 201 for answered in answers)
    assert {answered.answer.status for answered in answers} <= {201, 409}
    return int(held), int(await sql.fetchval("SELECT occupied_count FROM resources WHERE id = $1", seat))


@pytest.mark.usefixtures("planted")
async def test_the_planted_bug_oversells_while_the_counter_looks_innocent(
    nodes: list[Database], sql: asyncpg.Connection
) -> None:
    results = [await race(nodes, sql) for _ in range(RACES)]
    assert {occupied for _, occupied in results} == {1}
    assert max(held for held, _ in results) > 1


async def test_the_healthy_service_never_does(nodes: list[Database], sql: asyncpg.Connection) -> None:
    assert [await race(nodes, sql) for _ in range(RACES)] == [(1, 1)] * RACES


@pytest.mark.usefixtures("planted")
async def test_one_key_still_has_one_effect(nodes: list[Database], sql: asyncpg.Connection) -> None:
    seat = await resource(sql, capacity=50)
    answers = await asyncio.gather(*(place(nodes[twin % 2], seat, "twin") for twin in range(BUYERS)))
    assert {answered.answer.status for answered in answers} == {201}
    assert len({answered.answer.body for answered in answers}) == 1
    assert await sql.fetchval("SELECT count(*) FROM holds WHERE resource_id = $1", seat) == 1
    with pytest.raises(Refused, match="Idempotency-Key"):
        await place(nodes[0], seat, "twin", owner="somebody else")


@pytest.mark.usefixtures("planted")
async def test_one_after_the_other_it_refuses_as_the_service_does(
    nodes: list[Database], sql: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refusals() -> list[tuple[int, str]]:
        full, closed = await resource(sql, capacity=0), await resource(sql, state="CLOSED")
        answers = [await place(nodes[0], seat, secrets.token_hex(4)) for seat in (full, closed)]
        return [(answered.answer.status, answered.answer.body) for answered in answers]

    mutated = await refusals()
    monkeypatch.undo()
    assert mutated == await refusals()
    assert {status for status, _ in mutated} == {409}


async def test_its_answers_have_the_service_s_own_shape(
    nodes: list[Database], sql: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    healthy = json.loads((await place(nodes[0], await resource(sql), "healthy")).answer.body)
    monkeypatch.setattr(holds, "take", holds.take)
    mutants.plant("oversell-read-write")
    mutated = json.loads((await place(nodes[0], await resource(sql), "mutated")).answer.body)
    assert list(mutated) == list(healthy)
    assert {type(value) for value in mutated.values()} == {type(value) for value in healthy.values()}
