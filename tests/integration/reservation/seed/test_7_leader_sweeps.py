"""리더로 선출된 정리 작업자만 정해진 범위만큼 만료를 처리한다: only the leader sweeps, and only so much."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from service.reservation import expiry, leadership
from service.reservation.sweeper import SLOT, Outcome, Sweeper

if TYPE_CHECKING:
    import pytest


async def _overdue_rooms(sql: Any, count: int) -> None:
    await sql.execute(
        """WITH rooms AS (
               INSERT INTO resources (tenant, code, capacity, occupied_count, revision, hold_ttl, offer_ttl)
               SELECT 'demo', 'room-' || n, 1, 1, 1, '1 s', '1 s' FROM generate_series(1, $1) AS n RETURNING id)
           INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                              expires_at)
           SELECT 'demo', id, 'alice', 'k' || id, 1, 1, now() - interval '2 s', now() - interval '1 s' FROM rooms""",
        count,
    )


async def test_the_elected_sweeps_at_most_32_resources_and_the_other_none(
    pool: Any, settings: Any, sql: Any
) -> None:
    await _overdue_rooms(sql, 40)
    sweeper = Sweeper(pool, settings, "node-a")
    assert (settings.sweep_resources_max, settings.sweep_budget_seconds) == (32, 5.0)
    assert SLOT == "reservation-expiry-sweeper"

    elected = await sweeper.run_once()
    assert elected.outcome == Outcome.ELECTED
    assert sum(summary.expired_holds for summary in elected.summaries) == 32

    skipped = await Sweeper(pool, settings, "node-b").run_once()
    assert skipped.outcome == Outcome.SKIPPED
    assert skipped.summaries == ()
    assert await sql.fetchval("SELECT count(*) FROM holds WHERE state = 'EXPIRED'") == 32

    assert sum(summary.expired_holds for summary in (await sweeper.run_once()).summaries) == 8
    assert await sql.fetchval("SELECT array_agg(DISTINCT swept_by_term) FROM holds") == [1]


async def test_a_tick_inside_a_tick_finds_the_process_busy(
    pool: Any, settings: Any, sql: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _overdue_rooms(sql, 1)
    sweeper = Sweeper(pool, settings, "node-a")
    nested = []
    finalize = expiry.finalize_expired_resource

    async def inside_first_tick(*arguments: Any, **named: Any) -> expiry.Summary:
        nested.append(await sweeper.run_once())
        return await finalize(*arguments, **named)

    monkeypatch.setattr(expiry, "finalize_expired_resource", inside_first_tick)
    outer = await sweeper.run_once()

    assert [sweep.outcome for sweep in nested] == [Outcome.LOCAL_BUSY]
    assert outer.outcome == Outcome.ELECTED


async def test_a_tick_ends_with_its_budget(pool: Any, settings: Any, sql: Any) -> None:
    await _overdue_rooms(sql, 3)
    seconds = iter([0.0, 0.0, 4.9, 5.0])
    sweeper = Sweeper(pool, settings, "node-a", monotonic=lambda: next(seconds))

    sweep = await sweeper.run_once()

    assert len(sweep.summaries) == 2


async def test_the_next_leader_has_the_next_term_only_once_the_lease_is_over(pool: Any, sql: Any) -> None:
    lease = timedelta(seconds=15)
    t0 = await sql.fetchval("SELECT clock_timestamp()")

    async def elect(holder: str, after: float) -> Any:
        at = t0 + timedelta(seconds=after)
        return await leadership.elect(pool, slot=SLOT, holder=holder, lease=lease, at=at)

    assert (await elect("node-a", 0)).number == 1
    assert await elect("node-b", 14.9) is None
    assert (await elect("node-a", 14.9)).number == 1  # renewed
    assert await elect("node-b", 29.8) is None
    assert (await elect("node-b", 29.9)).number == 2
    assert await elect("node-a", 30) is None
    assert (await elect("node-b", 100)).number == 3  # its own lease had run out: anything may have happened
