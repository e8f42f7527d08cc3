"""Redis may advise and may fail: permits are leases, twins are told apart, and an outage costs a bounded latency."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest
import redis.asyncio as redis

from service.errors import Refused
from service.reservation.admission.breaker import Breaker, Circuit
from service.reservation.admission.bulkhead import Bulkhead
from service.reservation.admission.gate import Gate
from service.reservation.admission.redis_gate import PERMITS_KEY, RedisGate, Word

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable


@pytest.fixture
async def valkey(redis_url: str) -> AsyncIterator[Any]:
    async with redis.from_url(redis_url) as client:
        yield client


@pytest.fixture
async def gates(redis_url: str, make_settings: Callable[..., Any]) -> AsyncIterator[Callable[..., RedisGate]]:
    """Make gates to one Redis, as several nodes would."""
    made: list[RedisGate] = []

    def make(**more: Any) -> RedisGate:
        settings = make_settings(**({"redis_url": redis_url, "redis_timeout_ms": 1_000} | more))
        made.append(RedisGate(settings, Breaker(failures=3, open_ms=200)))
        return made[-1]

    yield make
    for gate in made:
        await gate.close()


async def test_a_command_is_admitted_by_redis_and_leaves_nothing_behind(
    start: Callable[..., Any], redis_url: str, valkey: Any
) -> None:
    service = await start(redis_url=redis_url, redis_timeout_ms=1_000)
    room = await service.resource(1)

    held = await service.person("alice").post(f"/api/resources/{room}/holds", {}, key="one")
    replay = await service.person("alice").post(f"/api/resources/{room}/holds", {}, key="one")

    assert (held.status, held.headers["admission"]) == (201, "redis")
    assert (replay.status, replay.headers["idempotency-replayed"]) == (201, "true")
    assert await valkey.keys("*") == []
    ready = await service.person("alice").get("/health/ready")
    assert ready.json == {"status": "up", "postgresql": "up", "redis": "up"}


async def test_no_permit_is_a_refusal_before_the_database(
    start: Callable[..., Any], redis_url: str, valkey: Any
) -> None:
    service = await start(redis_url=redis_url, redis_permits=1, redis_timeout_ms=1_000)
    room = await service.resource(1)
    seconds, _ = await valkey.time()
    await valkey.zadd(PERMITS_KEY, {"another node's": (seconds + 60) * 1_000})

    refused = await service.person("alice").post(f"/api/resources/{room}/holds", {})

    assert (refused.status, refused.json["code"]) == (503, "ADMISSION_REFUSED")
    assert refused.json["retryAfterMs"] == 200
    assert (
        await service.sql.fetchval("SELECT count(*) FROM idempotency_records WHERE operation = 'hold'") == 0
    )


async def test_the_permits_of_a_killed_node_come_back_by_themselves(
    gates: Callable[..., RedisGate], until: Callable[..., Any]
) -> None:
    killed = gates(redis_permits=1, redis_permit_lease_ms=300)
    other = gates(redis_permits=1, redis_permit_lease_ms=300)
    assert await killed.admit("its-last", "token-1") is Word.ADMITTED  # and never leaves
    assert await other.admit("next", "token-2") is Word.NO_PERMIT

    async def admitted() -> bool:
        return await other.admit("next", "token-2") is Word.ADMITTED

    await until(admitted, "the dead node's permit")


async def test_a_counter_for_permits_would_lose_the_killed_nodes_for_ever(valkey: Any) -> None:
    """The naive form, and what the seed's own semaphore does: a count without a deadline."""
    await valkey.set("permits", 1)
    assert await valkey.decr("permits") == 0  # and the node is killed before its INCR
    await asyncio.sleep(0.5)
    assert await valkey.get("permits") == b"0"
    assert await valkey.ttl("permits") == -1


async def test_permits_are_never_more_than_their_number(gates: Callable[..., RedisGate]) -> None:
    gate = gates(redis_permits=5)
    words = await asyncio.gather(*(gate.admit(f"command-{n}", f"token-{n}") for n in range(20)))
    assert words.count(Word.ADMITTED) == 5
    assert words.count(Word.NO_PERMIT) == 15


async def test_a_late_leaver_gives_back_no_permit_but_its_own(
    gates: Callable[..., RedisGate], valkey: Any
) -> None:
    gate = gates(redis_permits=1)
    await gate.admit("command", "new-token")

    await gate.leave("command", "old-token")

    assert await valkey.zrange(PERMITS_KEY, 0, -1) == [b"new-token"]
    assert await gate.admit("command", "third") is Word.NO_PERMIT


async def test_a_twin_under_way_is_told_so_and_takes_no_permit(
    gates: Callable[..., RedisGate], valkey: Any
) -> None:
    gate = gates()
    await gate.admit("command", "first")

    assert await gate.admit("command", "twin") is Word.TWIN_UNDER_WAY

    assert await valkey.zcard(PERMITS_KEY) == 1
    await gate.leave("command", "first")
    assert await gate.admit("command", "twin") is Word.ADMITTED


async def test_every_key_ends_by_itself(gates: Callable[..., RedisGate], valkey: Any) -> None:
    await gates().admit("command", "token")
    lives = [await valkey.pttl(key) for key in await valkey.keys("*")]
    assert len(lives) == 2
    assert all(0 < life <= 10_000 for life in lives)
    assert 0 < await valkey.pttl(b"reservation:{admission}:in-flight:command") <= 2_000


async def test_a_flushed_or_restarted_redis_is_used_again(
    gates: Callable[..., RedisGate], valkey: Any
) -> None:
    gate = gates()
    await gate.admit("command", "token")
    await valkey.flushall()
    await valkey.script_flush()

    assert await gate.admit("command", "token-2") is Word.ADMITTED


async def test_a_silent_redis_costs_a_bounded_time_and_then_none(
    make_settings: Callable[..., Any], silent_port: int
) -> None:
    breaker = Breaker(failures=3, open_ms=60_000)
    gate = RedisGate(
        make_settings(redis_url=f"redis://127.0.0.1:{silent_port}", redis_timeout_ms=50), breaker
    )
    began = time.monotonic()
    for _ in range(50):
        assert await gate.admit("command", "token") is Word.UNHEARD
    took = time.monotonic() - began
    await gate.close()

    assert breaker.circuit is Circuit.OPEN
    assert took < 2  # three timeouts; fifty would be five seconds, and each retried three times far more


async def test_a_redis_error_is_no_refusal_and_the_bulkhead_still_counts(
    make_settings: Callable[..., Any],
) -> None:
    redis_gate = RedisGate(make_settings(redis_url="redis://127.0.0.1:1"), Breaker(failures=3, open_ms=200))
    gate = Gate(Bulkhead(1, retry_after_ms=50), redis_gate, retry_after_ms=200)

    async with gate.admit("command") as way:
        assert way == "local-fallback"
        with pytest.raises(Refused) as refused:
            async with gate.admit("another"):
                pass
    await redis_gate.close()

    assert refused.value.refusal.code == "ADMISSION_REFUSED"
    assert refused.value.retry_after_ms == 50
    assert gate.bulkhead.in_use == 0


async def test_a_cancelled_call_crosses_no_connection(gates: Callable[..., RedisGate]) -> None:
    """A reply that nobody waited for must not be read as the next caller's (a known trap of shared clients)."""
    gate = gates()
    for attempt in range(20):
        task = asyncio.create_task(gate.admit(f"given-up-{attempt}", f"token-{attempt}"))
        for _ in range(attempt % 5):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        gate.breaker.succeeded()

    await gate.admit("holder", "holder")
    assert await gate.admit("holder", "twin") is Word.TWIN_UNDER_WAY
    assert await gate.admit("other", "other") is Word.ADMITTED


async def test_twins_in_flight_have_one_effect(
    start: Callable[..., Any], redis_url: str, valkey: Any
) -> None:
    del valkey
    service = await start(redis_url=redis_url, redis_timeout_ms=1_000)
    room = await service.resource(10)
    answers = await asyncio.gather(
        *(service.person("alice").post(f"/api/resources/{room}/holds", {}, key="twin") for _ in range(10))
    )
    told = {(answer.status, answer.json.get("code")) for answer in answers}
    assert told <= {(201, None), (409, "IDEMPOTENCY_IN_PROGRESS")}
    assert len({answer.body for answer in answers if answer.status == 201}) == 1
    assert await service.sql.fetchval("SELECT count(*) FROM holds") == 1
