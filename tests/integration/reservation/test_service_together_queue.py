"""Holds that wait for one resource inside a node share a commit, and nobody can tell, but for the speed."""

from __future__ import annotations

import asyncio
import random
from typing import TYPE_CHECKING, Any

import pytest

from tests.integration.reservation.rivals import locked, waiting

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

COMMITS = "SELECT count(DISTINCT xmin::text) FROM idempotency_answers"


@pytest.fixture
def under_way(until: Callable[..., Any]) -> Callable[..., Awaitable[None]]:
    """Wait until a node has so many calls under way."""

    async def wait(service: Any, calls: int) -> None:
        async def are() -> bool:
            told = (await service.person("watcher").get("/metrics")).body.decode()
            return f"reservation_bulkhead_in_use {calls}.0" in told

        await until(are, f"{calls} calls under way")

    return wait


async def test_ten_rivals_for_the_last_seat_need_two_commits(
    start: Callable[..., Any], under_way: Any, sql: Any
) -> None:
    service = await start(holds_together=True)
    room = await service.resource(1)
    commits = await sql.fetchval(COMMITS)
    async with locked(sql, room):
        rivals = [
            asyncio.ensure_future(
                service.person(f"p{n}").post(f"/api/resources/{room}/holds", {}, key=f"k{n}")
            )
            for n in range(10)
        ]
        await under_way(service, 10)
    answers = await asyncio.gather(*rivals)

    assert sorted(answer.status for answer in answers) == [201] + [409] * 9
    assert {answer.json["code"] for answer in answers if answer.status == 409} == {"CAPACITY_EXHAUSTED"}
    assert {answer.headers["idempotency-replayed"] for answer in answers} == {"false"}
    assert await sql.fetchval(COMMITS) - commits == 2  # the one in front, and all who came meanwhile

    for n, answer in enumerate(answers):
        again = await service.person(f"p{n}").post(f"/api/resources/{room}/holds", {}, key=f"k{n}")
        assert (again.status, again.body) == (answer.status, answer.body)
        assert again.headers["idempotency-replayed"] == "true"


async def test_twins_in_one_queue_have_one_effect_and_another_command_under_the_key_conflicts(
    start: Callable[..., Any], under_way: Any, sql: Any
) -> None:
    service = await start(holds_together=True)
    room, alice = await service.resource(50), service.person("alice")
    path = f"/api/resources/{room}/holds"
    async with locked(sql, room):
        calls = [asyncio.ensure_future(alice.post(path, {}, key=f"twin-{n % 2}")) for n in range(12)]
        await under_way(service, 12)
        stranger = asyncio.ensure_future(alice.post(path, {"quantity": 2}, key="twin-0"))
        await under_way(service, 13)
    answers = await asyncio.gather(*calls)

    for twin in (0, 1):
        mine = answers[twin::2]
        assert {answer.status for answer in mine} == {201}
        assert len({answer.body for answer in mine}) == 1
        assert sorted(answer.headers["idempotency-replayed"] for answer in mine) == ["false"] + ["true"] * 5
    assert (await stranger).json["code"] == "IDEMPOTENCY_FINGERPRINT_CONFLICT"
    assert await sql.fetchval("SELECT occupied_count FROM resources") == 2


async def test_a_statement_decides_no_more_than_the_setting_says(
    start: Callable[..., Any], under_way: Any, sql: Any
) -> None:
    service = await start(holds_together=True, holds_together_max=3)
    room = await service.resource(50)
    commits = await sql.fetchval(COMMITS)
    async with locked(sql, room):
        calls = [
            asyncio.ensure_future(service.person(f"p{n}").post(f"/api/resources/{room}/holds", {}))
            for n in range(11)
        ]
        await under_way(service, 11)
    assert {answer.status for answer in await asyncio.gather(*calls)} == {201}
    assert await sql.fetchval(COMMITS) - commits == 5  # 1 + 3 + 3 + 3 + 1


async def test_a_limit_per_owner_is_still_counted(
    start: Callable[..., Any], under_way: Any, sql: Any
) -> None:
    service = await start(holds_together=True)
    room, alice = await service.resource(50, perOwnerLimit=2), service.person("alice")
    answers = await asyncio.gather(*(alice.post(f"/api/resources/{room}/holds", {}) for _ in range(6)))
    assert sorted(answer.status for answer in answers) == [201, 201] + [409] * 4
    assert {answer.json["code"] for answer in answers if answer.status == 409} == {"OWNER_LIMIT_REACHED"}

    # One that comes while a queue stands.
    hall = await service.resource(50)
    async with locked(sql, hall):
        calls = [asyncio.ensure_future(alice.post(f"/api/resources/{hall}/holds", {})) for _ in range(6)]
        await under_way(service, 6)
        await sql.execute("UPDATE resources SET per_owner_limit = 2 WHERE id = $1", hall)
    answers = await asyncio.gather(*calls)
    assert sorted(answer.status for answer in answers) == [201, 201] + [409] * 4


async def test_a_resource_that_is_none_is_told_to_each(start: Callable[..., Any]) -> None:
    service = await start(holds_together=True)
    answers = await asyncio.gather(*(service.admin.post("/api/resources/77/holds", {}) for _ in range(5)))
    assert {answer.json["code"] for answer in answers} == {"RESOURCE_NOT_FOUND"}


async def test_twins_and_rivals_at_two_nodes_never_meet_a_deadlock(
    start: Callable[..., Any], sql: Any
) -> None:
    nodes = [await start(holds_together=True), await start(holds_together=True)]
    rooms = [await nodes[0].resource(12) for _ in range(2)]
    people = {(n, o): nodes[n].person(f"p{o}") for n in (0, 1) for o in range(20)}
    calls = [
        (room, owner, people[node, owner].post(f"/api/resources/{room}/holds", {}, key=f"{room}-{owner}"))
        for room in rooms
        for owner in range(20)
        for node in (0, 1)
    ]
    random.Random(1).shuffle(calls)
    answers = await asyncio.gather(*(call for _, _, call in calls))

    by_key: dict[tuple[int, int], set[bytes]] = {}
    for (room, owner, _), answer in zip(calls, answers, strict=True):
        assert answer.status in (201, 409), answer.body
        by_key.setdefault((room, owner), set()).add(answer.body)
    assert {len(bodies) for bodies in by_key.values()} == {1}
    for room in rooms:
        assert await sql.fetchval("SELECT sum(quantity) FROM holds WHERE resource_id = $1", room) == 12
        assert await sql.fetchval("SELECT occupied_count FROM resources WHERE id = $1", room) == 12


async def test_a_lost_commit_is_unknown_to_all_of_it_and_their_keys_tell(
    start: Callable[..., Any], under_way: Any, sql: Any, until: Callable[..., Any]
) -> None:
    service = await start(holds_together=True)
    room = await service.resource(50)
    people = [service.person(f"p{n}") for n in range(6)]
    path = f"/api/resources/{room}/holds"
    end_the_waiting = "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE NOT granted"
    async with locked(sql, room):
        calls = [asyncio.ensure_future(one.post(path, {}, key=f"k{n}")) for n, one in enumerate(people)]
        await under_way(service, 6)
        await waiting(until, sql)
        assert await sql.fetchval(end_the_waiting) == 1  # the one in front
        await under_way(service, 5)
        await waiting(until, sql)
        assert await sql.fetchval(end_the_waiting) == 1  # the others
        answers = await asyncio.gather(*calls)
    assert {answer.json["code"] for answer in answers} == {"OUTCOME_UNKNOWN"}

    again = await asyncio.gather(*(one.post(path, {}, key=f"k{n}") for n, one in enumerate(people)))
    assert {answer.status for answer in again} == {201}
    assert await sql.fetchval("SELECT occupied_count FROM resources") == 6


async def test_a_wait_that_lasts_too_long_ends_for_certain_and_pins_nothing(
    start: Callable[..., Any], sql: Any, under_way: Any
) -> None:
    service = await start(holds_together=True, pool_acquire_ms=700, pool_connections_max=2)
    room = await service.resource(50)
    path = f"/api/resources/{room}/holds"
    async with locked(sql, room):
        first = asyncio.ensure_future(service.person("first").post(path, {}))
        await under_way(service, 1)
        late = await asyncio.gather(*(service.person(f"p{n}").post(path, {}, key=f"k{n}") for n in range(4)))
    assert {(answer.status, answer.json["code"]) for answer in late} == {(503, "DATABASE_BUSY")}
    assert (await first).status == 201
    again = await service.person("p0").post(path, {}, key="k0")
    assert (again.status, again.headers["idempotency-replayed"]) == (201, "false")
    assert await sql.fetchval("SELECT occupied_count FROM resources") == 2
