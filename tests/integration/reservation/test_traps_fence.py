"""Who may still write: stale leaders and stale workers are held off by a lock, not by a condition that was read."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from service import errors
from service.errors import Refused
from service.reservation import expiry, idempotency, leadership, once
from service.reservation.idempotency import Answer, New, Replay, Scope, Takeover
from service.reservation.leadership import Deposed, Term
from service.reservation.sweeper import SLOT, Outcome, Sweeper

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Room = Callable[..., Awaitable[int]]

STALE = Term(slot=SLOT, holder="node-a", number=1)
RIVAL = "UPDATE leader_leases SET holder = 'node-b', term = 2 WHERE slot = $1"
SCOPE = Scope(tenant="demo", operation="hold.confirm", key="key")
LEASE = timedelta(seconds=90)


@pytest.fixture
async def lease(sql: Any) -> None:
    await sql.execute(
        "INSERT INTO leader_leases VALUES ($1, 'node-a', 1, clock_timestamp() + interval '15 s')", SLOT
    )


@pytest.mark.usefixtures("lease")
async def test_an_exists_on_the_lease_inside_the_update_lets_a_stale_leader_through(
    sessions: Any, sql: Any, room: Room
) -> None:
    full = await room(occupied=1)
    blocker, stale = await sessions.open(), await sessions.open()
    naive = """UPDATE resources SET occupied_count = 0
               WHERE id = $1 AND EXISTS (SELECT FROM leader_leases WHERE slot = $2 AND term = 1) RETURNING id"""
    async with blocker.transaction():
        await blocker.execute("UPDATE resources SET revision = revision + 1 WHERE id = $1", full)
        writing = await sessions.blocked(stale, stale.fetchval(naive, full, SLOT))
        await sql.execute(RIVAL, SLOT)  # another leader's term begins and is committed
    assert await writing == full  # and the old leader wrote after it


@pytest.mark.usefixtures("lease")
async def test_a_key_share_does_not_hold_off_a_rivals_election(sessions: Any, sql: Any) -> None:
    stale = await sessions.open()
    async with stale.transaction():
        await stale.fetchval(
            "SELECT term FROM leader_leases WHERE slot = $1 AND term = 1 FOR KEY SHARE", SLOT
        )
        await asyncio.wait_for(sql.execute(RIVAL, SLOT), 5)  # it does not wait
        assert await sql.fetchval("SELECT term FROM leader_leases") == 2


@pytest.mark.usefixtures("lease")
async def test_the_fence_holds_a_rivals_election_off_until_the_sweep_has_committed(sessions: Any) -> None:
    leader, rival = await sessions.open(), await sessions.open()
    transaction = leader.transaction()
    await transaction.start()
    await leadership.fence(leader, STALE)
    electing = await sessions.blocked(rival, rival.execute(RIVAL, SLOT))
    await transaction.commit()
    await electing

    with pytest.raises(Deposed):
        await leadership.fence(leader, STALE)


async def test_a_deposed_leader_stops_and_changes_nothing(
    pool: Any, settings: Any, sql: Any, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = await room(occupied=1)
    await sql.execute(
        """INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                              expires_at)
           VALUES ('demo', $1, 'alice', 'k', 1, 1, now(), now())""",
        full,
    )
    elect = leadership.elect

    async def paused(*arguments: Any, **named: Any) -> Any:
        """The leader is elected, and sleeps until another has been."""
        term = await elect(*arguments, **named)
        await sql.execute(RIVAL, SLOT)
        return term

    monkeypatch.setattr(leadership, "elect", paused)
    sweep = await Sweeper(pool, settings, "node-a").run_once()

    assert sweep.outcome == Outcome.ELECTED
    assert sweep.summaries == ()
    assert await sql.fetchval("SELECT state FROM holds") == "ACTIVE"


async def test_a_bad_row_never_stops_the_rest_and_rests_itself(
    pool: Any, settings: Any, sql: Any, room: Room
) -> None:
    bad, good = await room(occupied=1), await room(occupied=1)
    await sql.execute(
        """INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                              expires_at)
           SELECT 'demo', id, 'alice', 'k' || id, CASE WHEN id = $1 THEN 7 ELSE 1 END, 1, now(), now() - age
           FROM (VALUES ($1::bigint, interval '2 s'), ($2, interval '1 s')) AS v (id, age)""",
        bad,
        good,
    )
    sweeper = Sweeper(pool, settings, "node-a")

    first = await sweeper.run_once()  # seven seats of one cannot be released: the check refuses
    assert (first.failed, sum(summary.expired_holds for summary in first.summaries)) == (1, 1)
    assert await sql.fetchval("SELECT state FROM holds WHERE resource_id = $1", good) == "EXPIRED"
    assert await sql.fetchval("SELECT state FROM holds WHERE resource_id = $1", bad) == "ACTIVE"
    assert (await sweeper.run_once()).failed == 0  # it rests, and leaves its place to others
    assert (await sweeper.run_once()).failed == 1


async def test_an_outage_is_no_fault_of_the_resource_that_met_it(
    pool: Any, settings: Any, sql: Any, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = await room(occupied=1)
    await sql.execute(
        """INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                              expires_at)
           VALUES ('demo', $1, 'alice', 'k', 1, 1, now(), now())""",
        full,
    )

    async def away(*_: Any, **__: Any) -> None:
        raise Refused(errors.DATABASE_UNAVAILABLE)

    sweeper = Sweeper(pool, settings, "node-a")
    with monkeypatch.context() as outage:
        outage.setattr(expiry, "finalize_expired_resource", away)
        with pytest.raises(Refused):
            await sweeper.run_once()
    assert len((await sweeper.run_once()).summaries) == 1  # at once, not after a rest


async def test_a_naive_takeover_beside_a_finalizing_worker_runs_a_settled_command_again(
    sessions: Any, sql: Any
) -> None:
    worker, rival = await sessions.open(), await sessions.open()
    record = await _lapsed(sql)
    naive = """UPDATE idempotency_records AS r SET owner_token = 'b'
               WHERE id = $1 AND owner_token = 'a'
                 AND NOT EXISTS (SELECT FROM idempotency_answers WHERE record_id = r.id) RETURNING id"""
    async with worker.transaction():
        assert await idempotency.finalize(worker, record, "a", Answer(200, "done"))
        taking = await sessions.blocked(rival, rival.fetchval(naive, record))
    assert await taking == record  # taken over, though its answer is stored


async def test_a_takeover_waits_for_a_finalizing_worker_and_then_replays(sessions: Any, sql: Any) -> None:
    worker, rival = await sessions.open(), await sessions.open()
    record = await _lapsed(sql)

    async def acquire() -> Any:
        async with rival.transaction():
            return await idempotency.acquire(rival, SCOPE, "print", "b", lease=LEASE)

    async with worker.transaction():
        assert await idempotency.finalize(worker, record, "a", Answer(200, "done"))
        acquiring = await sessions.blocked(rival, acquire())
    assert await acquiring == Replay(200, "done")


async def test_of_many_rivals_for_a_lapsed_claim_one_takes_it_over(pool: Any, sql: Any) -> None:
    await _lapsed(sql)

    async def acquire(owner: str) -> Any:
        return await pool.transaction(
            lambda connection: idempotency.acquire(connection, SCOPE, "print", owner, lease=LEASE)
        )

    fates = await asyncio.gather(*(acquire(f"owner-{n}") for n in range(12)))
    assert sum(isinstance(fate, Takeover) for fate in fates) == 1


async def test_a_worker_whose_claim_was_taken_over_rolls_all_its_work_back(
    pool: Any, sql: Any, room: Room
) -> None:
    free = await room()

    async def work(connection: Any) -> Answer:
        # While it works (paused, say) its lease ends and another takes the claim over.
        await connection.execute("UPDATE resources SET revision = 99 WHERE id = $1", free)
        await connection.execute("UPDATE idempotency_records SET owner_token = 'another'")
        return Answer(200, "stale")

    with pytest.raises(Exception, match="carried out"):
        await once.execute(pool, SCOPE, "print", work, lease=LEASE)

    assert await sql.fetchval("SELECT revision FROM resources WHERE id = $1", free) == 0
    assert await sql.fetchval("SELECT count(*) FROM idempotency_answers") == 0


async def _lapsed(sql: Any) -> int:
    """A claim of worker `a` whose lease is over."""
    acquired = await idempotency.acquire(sql, SCOPE, "print", "a", lease=timedelta(0))
    assert isinstance(acquired, New)
    return acquired.record
