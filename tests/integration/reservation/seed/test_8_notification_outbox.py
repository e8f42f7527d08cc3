"""알림 작업자가 중단돼 재시도해도 알림은 중복 발송되지 않는다: a crash makes a second send, never a second effect."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from service.reservation import outbox
from service.reservation.outbox import Claim, Mark, Notice, RetryPolicy

DELIVERY = "waitlist-30-offered"
LEASE = timedelta(seconds=30)
POLICY = RetryPolicy(max_attempts=5, initial_delay=timedelta(seconds=2), max_delay=timedelta(seconds=10))


class Provider:
    """A party that refuses its first request and knows a delivery id again."""

    def __init__(self) -> None:
        self.effects: dict[str, int] = {}
        self.requests = 0

    def send(self, claim: Claim) -> str:
        self.requests += 1
        if self.requests == 1:
            return "RetryableFailure"
        if claim.delivery_id in self.effects:
            return "Duplicate"
        self.effects[claim.delivery_id] = 1
        return "Accepted"

    def effect_count(self, delivery: str) -> int:
        return self.effects.get(delivery, 0)


async def _claim(sql: Any, worker: str, at: Any) -> Claim:
    claims = await outbox.claim(sql, token=worker, lease=LEASE, policy=POLICY, delivery=DELIVERY, at=at)
    assert len(claims) == 1
    return claims[0]


async def _enqueue(sql: Any, at: Any) -> int:
    notice = Notice(delivery_id=DELIVERY, kind="offer-created", payload="{}")
    return await outbox.enqueue(sql, "demo", [notice], at)


async def _row(sql: Any) -> Any:
    return await sql.fetchrow("SELECT * FROM notification_outbox WHERE delivery_id = $1", DELIVERY)


async def test_a_worker_that_dies_before_its_mark_makes_a_duplicate_and_no_second_effect(sql: Any) -> None:
    provider = Provider()
    t0 = await sql.fetchval("SELECT clock_timestamp()")
    assert await _enqueue(sql, t0) == 1
    assert await _enqueue(sql, t0) == 0
    assert await sql.fetchval("SELECT count(*) FROM notification_outbox") == 1

    first = await _claim(sql, "workerA", t0)
    assert provider.send(first) == "RetryableFailure"
    assert await outbox.mark_failed(sql, first, POLICY, at=t0) == Mark.APPLIED
    next_attempt_at = (await _row(sql))["next_attempt_at"]
    assert next_attempt_at == t0 + timedelta(seconds=2)

    second = await _claim(sql, "workerA", next_attempt_at)
    assert provider.send(second) == "Accepted"
    # workerA crashes here, before mark_delivered.

    claims = await outbox.claim(
        sql, token="workerB", lease=LEASE, policy=POLICY, at=next_attempt_at + timedelta(seconds=29)
    )
    assert claims == []
    recovered = await _claim(sql, "workerB", next_attempt_at + timedelta(seconds=31))
    assert provider.send(recovered) == "Duplicate"
    assert await outbox.mark_delivered(sql, DELIVERY, "workerA") == Mark.STALE
    assert await outbox.mark_delivered(sql, DELIVERY, "workerB") == Mark.APPLIED

    assert provider.effect_count(DELIVERY) == 1
    assert (await _row(sql))["state"] == "DELIVERED"
    assert (await _row(sql))["attempt_count"] == 3


async def test_a_delivery_that_keeps_failing_is_exhausted_after_five_attempts(sql: Any) -> None:
    at = await sql.fetchval("SELECT clock_timestamp()")
    await _enqueue(sql, at)
    rests = []

    for _ in range(5):
        claim = await _claim(sql, "worker", at)
        await outbox.mark_failed(sql, claim, POLICY, at=at)
        if (next_attempt_at := (await _row(sql))["next_attempt_at"]) is not None:
            rests.append((next_attempt_at - at).total_seconds())
            at = next_attempt_at

    assert rests == [2, 4, 8, 10]
    assert (await _row(sql))["state"] == "EXHAUSTED"
    assert (await _row(sql))["attempt_count"] == 5
    assert (await _row(sql))["next_attempt_at"] is None


async def test_a_fifth_claim_that_lapses_is_exhausted_too(sql: Any) -> None:
    at = await sql.fetchval("SELECT clock_timestamp()")
    await _enqueue(sql, at)
    for _ in range(5):  # five workers, each dead before its mark
        await _claim(sql, "worker", at)
        at += timedelta(seconds=31)

    assert await outbox.claim(sql, token="sixth", lease=LEASE, policy=POLICY, at=at) == []
    assert await outbox.exhaust(sql, POLICY, at=at) == 1

    row = await _row(sql)
    assert (row["state"], row["attempt_count"], row["next_attempt_at"]) == ("EXHAUSTED", 5, None)
