"""However many waits a command meets, it is answered by its deadline: for certain, with nothing done, and free to be tried again."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

import pytest

from service import deadline
from service.database import Database
from service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    import asyncpg

    from tests.integration.reservation.line import Line

DEADLINE_MS: Final = 1_000
MARGIN_SECONDS: Final = 1.5  # a busy machine's; the waits' own bounds are far beyond it
PATIENT: Final = {  # each wait by itself would be content with six times the deadline
    "pool_acquire_ms": 6_000,
    "lock_timeout_ms": 6_000,
    "statement_timeout_ms": 6_000,
    "transaction_timeout_ms": 8_000,
    "idle_in_transaction_timeout_ms": 8_000,
    "command_timeout_ms": 8_000,
}
BUSY: Final = {(503, "DATABASE_BUSY"), (503, "DEADLINE_PASSED"), (503, "POOL_EXHAUSTED")}
LEFTOVERS: Final = """SELECT count(*) FROM pg_stat_activity WHERE application_name = 'reservation-node'
    AND datname = current_database() AND state <> 'idle'"""


@asynccontextmanager
async def locked(sql: asyncpg.Connection, room: int) -> AsyncIterator[None]:
    """Keep everybody from deciding about the resource."""
    async with sql.transaction():
        await sql.execute("SELECT FROM resources WHERE id = $1 FOR NO KEY UPDATE", room)
        yield


async def everything(sql: asyncpg.Connection) -> tuple[int, ...]:
    """Count what commands leave behind; what is claimed and not answered is none of it."""
    counted = await sql.fetchrow(
        """SELECT (SELECT sum(occupied_count) FROM resources), (SELECT sum(revision) FROM resources),
           (SELECT count(*) FROM holds), (SELECT count(*) FROM reservations), (SELECT count(*) FROM idempotency_answers)"""
    )
    return tuple(counted)


@pytest.mark.parametrize("together", [False, True], ids=["each by itself", "together"])
async def test_behind_a_locked_row_and_a_full_pool_everybody_is_told_in_time_and_may_try_again(
    start: Callable[..., Any], sql: asyncpg.Connection, until: Callable[..., Any], together: bool
) -> None:
    service = await start(
        **PATIENT, command_deadline_ms=DEADLINE_MS, pool_connections_max=2, holds_together=together
    )
    room, alice = await service.resource(50), service.person("alice")
    held = [(await alice.post(f"/api/resources/{room}/holds", {})).json["id"] for _ in range(3)]
    calls = [(f"/api/resources/{room}/holds", f"h{n}") for n in range(4)]
    calls += [(f"/api/holds/{hold}/confirm", f"c{n}") for n, hold in enumerate(held)]
    before = await everything(sql)

    async with locked(sql, room):
        began = time.monotonic()
        told = await asyncio.gather(*(alice.post(path, {}, key=key) for path, key in calls))
        took = time.monotonic() - began

    assert {(answer.status, answer.json["code"]) for answer in told} <= BUSY
    assert took < DEADLINE_MS / 1_000 + MARGIN_SECONDS
    assert await everything(sql) == before

    async def settled() -> bool:
        return not deadline._OUTLASTING and await sql.fetchval(LEFTOVERS) == 0

    await until(settled, "every connection back in the pool, and every claim given up")
    again = [await alice.post(path, {}, key=key) for path, key in calls]
    assert {(answer.status, answer.headers["idempotency-replayed"]) for answer in again} == {(201, "false")}


async def test_a_connection_comes_back_as_it_was_lent(
    make_settings: Callable[..., Any], sql: asyncpg.Connection, room: Callable[..., Any]
) -> None:
    """The same session, in no transaction, with no lock, and no more impatient than it was."""
    free = await room(capacity=5)
    pool = await Database.open(make_settings(**PATIENT, pool_connections_max=1), application="hurried")
    looks = """SELECT pg_backend_pid() AS pid, current_setting('statement_timeout') AS bound,
               pg_current_xact_id_if_assigned() AS work"""
    before = await pool.read(lambda connection: connection.fetchrow(looks))

    async def work(connection: Any) -> None:
        await connection.execute("UPDATE resources SET revision = revision + 1 WHERE id = $1", free)

    async with locked(sql, free):
        began = time.monotonic()
        with pytest.raises(Refused) as refused:
            await asyncio.create_task(_within(0.5, pool.transaction(work)))
        took = time.monotonic() - began
    after = await pool.read(lambda connection: connection.fetchrow(looks))
    await pool.transaction(work)
    await pool.close()

    assert refused.value.refusal.code == "DATABASE_BUSY"  # it had been asked: to be slow is no shedding
    assert took < 0.5 + MARGIN_SECONDS
    assert (after, before["work"]) == (before, None)
    assert await sql.fetchval("SELECT revision FROM resources") == 1  # the later one's, and no other


async def test_a_reader_is_not_as_hurried_as_who_used_the_connection_before(
    make_settings: Callable[..., Any],
) -> None:
    pool = await Database.open(make_settings(**PATIENT, pool_connections_max=1), application="hurried")
    hurried = pool.autocommit(lambda connection: connection.fetchval("SHOW statement_timeout"))
    assert int((await asyncio.create_task(_within(0.3, hurried))).removesuffix("ms")) < 300
    slow = pool.read(lambda connection: connection.fetchval("SELECT pg_sleep(0.5)"))
    await asyncio.create_task(_within(6.0, slow))
    await pool.close()


async def _within(seconds: float, work: Any) -> Any:
    deadline.start(seconds)
    return await work


async def test_work_that_a_silent_server_does_not_answer_is_cut_off_for_certain(
    start: Callable[..., Any], sql: asyncpg.Connection, line: Line
) -> None:
    service = await start(
        **PATIENT, database_url=line.through, command_deadline_ms=DEADLINE_MS, pool_connections_max=2
    )
    room, alice = await service.resource(5), service.person("alice")
    hold = (await alice.post(f"/api/resources/{room}/holds", {})).json["id"]
    before = await everything(sql)
    line.cue, line.fate = b"INSERT INTO reservations", "lost"

    began = time.monotonic()
    busy = await alice.post(f"/api/holds/{hold}/confirm", {}, key="c")
    took = time.monotonic() - began

    assert line.met.is_set()
    assert (busy.status, busy.json["code"]) == (503, "DATABASE_BUSY")
    assert took < DEADLINE_MS / 1_000 + MARGIN_SECONDS
    assert await everything(sql) == before
    retry = await alice.post(f"/api/holds/{hold}/confirm", {}, key="c")
    assert (retry.status, retry.headers["idempotency-replayed"]) == (201, "false")


@pytest.mark.parametrize("kind", ["hold", "confirm"])
async def test_what_may_have_been_committed_is_waited_for_beyond_the_deadline(
    start: Callable[..., Any], line: Line, until: Callable[..., Any], kind: str
) -> None:
    """Its answer comes late, and is the truth; a refusal would be a lie, and an unknown outcome a needless one."""
    service = await start(**PATIENT, database_url=line.through, command_deadline_ms=300)
    room, alice = await service.resource(5), service.person("alice")
    hold = (await alice.post(f"/api/resources/{room}/holds", {})).json["id"]
    path, cue = {
        "hold": (f"/api/resources/{room}/holds", b"the-late-one"),
        "confirm": (f"/api/holds/{hold}/confirm", b"COMMIT"),
    }[kind]
    line.cue, line.fate = cue, "answer held"

    began = time.monotonic()
    asking = asyncio.ensure_future(alice.post(path, {}, key="the-late-one"))
    await asyncio.wait_for(line.met.wait(), 5)
    await until(lambda: time.monotonic() > began + 1.0, "the end of the deadline, three times over")
    assert not asking.done()
    line.passes.set()

    assert (await asking).status == 201


async def test_a_collision_is_not_tried_again_with_less_left_than_an_attempt_takes(pool: Database) -> None:
    tries = 0

    async def collide(connection: Any) -> None:
        nonlocal tries
        tries += 1
        await connection.execute("SELECT pg_sleep(0.6)")
        await connection.execute("DO $$ BEGIN RAISE SQLSTATE '40001'; END $$")

    with pytest.raises(Refused) as refused:
        await asyncio.create_task(_within(1.0, pool.transaction(collide)))
    assert (refused.value.refusal.code, tries) == ("DATABASE_BUSY", 1)


async def test_a_redis_that_is_slow_does_not_cost_more_than_there_is(
    start: Callable[..., Any], silent_port: int
) -> None:
    service = await start(
        redis_url=f"redis://127.0.0.1:{silent_port}", redis_timeout_ms=6_000, command_deadline_ms=DEADLINE_MS
    )
    began = time.monotonic()
    answer = await service.person("alice").post("/api/resources/1/holds", {})
    assert (answer.status, answer.json["code"]) == (503, "DEADLINE_PASSED")
    assert time.monotonic() - began < DEADLINE_MS / 1_000 + MARGIN_SECONDS
