"""A lost reply after a COMMIT is an unknown outcome; a failure before it is definite; the key settles both."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from service.reservation import handover

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.reservation.line import Line


@dataclass(frozen=True, slots=True)
class Behind:
    """A node with one connection to PostgreSQL, its statements prepared, and alice with a hold of one of five seats."""

    sql: Any
    alice: Any
    room: int
    hold: int


@pytest.fixture
async def behind(start: Callable[..., Any], line: Line) -> Behind:
    service = await start(database_url=line.through, pool_connections_max=1, pool_connections_min=1)
    room, alice = await service.resource(5), service.person("alice")
    hold = (await alice.post(f"/api/resources/{room}/holds", {})).json["id"]
    return Behind(service.sql, alice, room, hold)


async def test_a_hold_whose_reply_was_lost_is_unknown_and_its_key_tells_later(
    behind: Behind, line: Line
) -> None:
    sql, alice = behind.sql, behind.alice
    path = f"/api/resources/{behind.room}/holds"
    line.cue = b"lost-one"

    unknown = await alice.post(path, {}, key="lost-one")
    assert (unknown.status, unknown.json["code"]) == (503, "OUTCOME_UNKNOWN")
    assert line.met.is_set()
    assert await sql.fetchval("SELECT count(*) FROM holds WHERE idempotency_key = 'lost-one'") == 1

    retry = await alice.post(path, {}, key="lost-one")
    assert (retry.status, retry.headers["idempotency-replayed"]) == (201, "true")
    assert await sql.fetchval("SELECT occupied_count FROM resources") == 2


async def test_a_confirm_whose_commit_was_lost_is_unknown_and_replayed(behind: Behind, line: Line) -> None:
    sql, alice = behind.sql, behind.alice
    line.cue = b"COMMIT"

    unknown = await alice.post(f"/api/holds/{behind.hold}/confirm", {}, key="c")
    assert (unknown.status, unknown.json["code"]) == (503, "OUTCOME_UNKNOWN")

    retry = await alice.post(f"/api/holds/{behind.hold}/confirm", {}, key="c")
    assert (retry.status, retry.headers["idempotency-replayed"]) == (201, "true")
    assert await sql.fetchval("SELECT count(*) FROM reservations") == 1


async def test_a_confirm_cut_off_before_its_commit_failed_for_certain_and_may_be_tried_at_once(
    behind: Behind, line: Line
) -> None:
    sql, alice = behind.sql, behind.alice
    line.cue, line.fate = b"INSERT INTO reservations", "cut before"

    failed = await alice.post(f"/api/holds/{behind.hold}/confirm", {}, key="c")
    assert (failed.status, failed.json["code"]) == (503, "DATABASE_UNAVAILABLE")
    assert await sql.fetchval("SELECT count(*) FROM reservations") == 0

    retry = await alice.post(f"/api/holds/{behind.hold}/confirm", {}, key="c")
    assert (retry.status, retry.headers["idempotency-replayed"]) == (201, "false")


async def test_a_claim_whose_reply_was_lost_is_given_up_for_no_work_was_begun(
    behind: Behind, line: Line
) -> None:
    sql, alice = behind.sql, behind.alice
    line.cue = b"the-claim"

    failed = await alice.post(f"/api/holds/{behind.hold}/confirm", {}, key="the-claim")
    assert (failed.status, failed.json["code"]) == (503, "DATABASE_UNAVAILABLE")
    assert line.met.is_set()
    assert await sql.fetchval("SELECT count(*) FROM idempotency_records WHERE key = 'the-claim'") == 1

    retry = await alice.post(f"/api/holds/{behind.hold}/confirm", {}, key="the-claim")
    assert (retry.status, retry.headers["idempotency-replayed"]) == (201, "false")


async def test_an_unforeseen_failure_before_the_commit_frees_its_key(
    service: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = await service.resource(1)
    alice = service.person("alice")
    hold = (await alice.post(f"/api/resources/{room}/holds", {})).json["id"]
    with monkeypatch.context() as broken:
        broken.setattr(handover, "promote_or_release", _fail)
        failed = await alice.post(f"/api/holds/{hold}/cancel", {}, key="c")
    assert (failed.status, failed.json["code"]) == (500, "INTERNAL_ERROR")
    assert (await service.row("holds", hold))["state"] == "ACTIVE"

    retry = await alice.post(f"/api/holds/{hold}/cancel", {}, key="c")
    assert (retry.status, retry.json["state"]) == (200, "CANCELLED")


async def _fail(*_: Any) -> None:
    raise RuntimeError("a fault that nobody foresaw")


async def test_a_commit_that_never_arrived_leaves_the_key_in_progress_until_its_lease(
    behind: Behind, line: Line
) -> None:
    """Whether it arrived nobody here can know: only the lease may free the key."""
    sql, alice = behind.sql, behind.alice
    line.cue, line.fate = b"COMMIT", "cut before"

    unknown = await alice.post(f"/api/holds/{behind.hold}/confirm", {}, key="c")
    assert unknown.json["code"] == "OUTCOME_UNKNOWN"
    retry = await alice.post(f"/api/holds/{behind.hold}/confirm", {}, key="c")
    assert (retry.status, retry.json["code"]) == (409, "IDEMPOTENCY_IN_PROGRESS")
    assert 80_000 < retry.json["retryAfterMs"] <= 90_000
    assert 80 < int(retry.headers["retry-after"]) <= 90

    await sql.execute("UPDATE idempotency_records SET lease_expires_at = clock_timestamp()")
    taken_over = await alice.post(f"/api/holds/{behind.hold}/confirm", {}, key="c")
    assert (taken_over.status, taken_over.headers["idempotency-replayed"]) == (201, "false")


async def test_a_locked_row_is_a_definite_refusal_and_a_full_pool_another(
    start: Callable[..., Any], until: Callable[..., Any]
) -> None:
    service = await start(pool_connections_max=1, lock_timeout_ms=300, pool_acquire_ms=100)
    room = await service.resource(5)
    alice, bob = service.person("alice"), service.person("bob")
    async with service.sql.transaction():
        await service.sql.execute("SELECT FROM resources WHERE id = $1 FOR NO KEY UPDATE", room)
        waiting = asyncio.ensure_future(alice.post(f"/api/resources/{room}/holds", {}, key="a"))
        waits = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        await until(lambda: service.sql.fetchval(waits), "alice's wait for the row")
        crowded_out = await bob.post(f"/api/resources/{room}/holds", {}, key="b")
        busy = await waiting
    assert (busy.status, busy.json["code"]) == (503, "DATABASE_BUSY")
    assert (crowded_out.status, crowded_out.json["code"]) == (503, "POOL_EXHAUSTED")

    retry = await alice.post(f"/api/resources/{room}/holds", {}, key="a")
    assert (retry.status, retry.headers["idempotency-replayed"]) == (201, "false")  # it was not pinned
