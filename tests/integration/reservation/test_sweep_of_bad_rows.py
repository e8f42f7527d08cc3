"""Holds that cannot be ended at first: the trap of a planted bug, which the healthy sweep passes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chaos.mutants import sweep_aborts
from service.reservation.sweeper import Outcome, Sweeper

if TYPE_CHECKING:
    import asyncpg
    import pytest

ROOMS, BAD_EVERY = 60, 20
TICKS_MAX = 40


async def _trapped(sql: asyncpg.Connection) -> None:
    """Put sixty overdue holds there, a resource each, and let every twentieth refuse to be ended."""
    await sql.execute(
        """WITH rooms AS (
               INSERT INTO resources (tenant, code, capacity, occupied_count, revision, hold_ttl, offer_ttl)
               SELECT 'demo', 'room-' || n, 1, 1, 1, '1 s', '1 s' FROM generate_series(1, $1) AS n RETURNING id)
           INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                              expires_at)
           SELECT 'demo', id, 'alice', 'k' || id, 1, 1, now() - interval '2 s', now() - interval '1 s' FROM rooms""",
        ROOMS,
    )
    for statement in sweep_aborts.MUTANT.schema:
        await sql.execute(statement)


async def _left(sql: asyncpg.Connection) -> list[int]:
    return [row["id"] for row in await sql.fetch("SELECT id FROM holds WHERE state = 'ACTIVE' ORDER BY id")]


async def test_the_healthy_sweep_leaves_only_the_bad_rows_out_and_comes_back_for_them(
    pool: Any, settings: Any, sql: asyncpg.Connection
) -> None:
    await _trapped(sql)
    sweeper = Sweeper(pool, settings, "node-a")

    first = [await sweeper.run_once() for _ in range(ROOMS // settings.sweep_resources_max + 1)]
    assert sum(sweep.failed for sweep in first) >= ROOMS // BAD_EVERY
    assert await _left(sql) == [20, 40, 60]

    later = [await sweeper.run_once() for _ in range(TICKS_MAX)]
    assert {sweep.outcome for sweep in [*first, *later]} == {Outcome.ELECTED}
    assert sum(sweep.failed for sweep in [*first, *later]) == 6  # so often the trap springs
    assert await _left(sql) == []
    assert await sql.fetchval("SELECT sum(occupied_count) FROM resources") == 0


async def test_the_sweep_that_aborts_leaves_the_good_rows_behind_too(
    pool: Any, settings: Any, sql: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await _trapped(sql)
    for replaced in ("run_once", "_let_rest"):
        monkeypatch.setattr(Sweeper, replaced, getattr(Sweeper, replaced))  # put back after the test
    sweep_aborts.plant()
    sweeper = Sweeper(pool, settings, "node-a")

    failed = 0
    for _ in range(TICKS_MAX):
        try:
            sweep = await sweeper.run_once()
        except Exception:  # noqa: BLE001 - the worker goes on after it, too
            failed += 1
    assert failed == 1
    assert sweep.outcome is Outcome.LOCAL_BUSY
    assert set(await _left(sql)) - {20, 40, 60}
