"""Each fault of a process lands on the real one, says how it was seen, and leaves it as it was."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import asyncpg
import psutil
import pytest
import redis.asyncio as redis

from chaos import processes
from chaos.faults import (
    Crash,
    Flush,
    Kill,
    Pause,
    ProviderFault,
    Restart,
    Rollback,
    Terminate,
    at,
    throughout,
    when,
)
from chaos.nemesis import Nemesis, Unavailable

if TYPE_CHECKING:
    from chaos.course import FaultRecord
    from chaos.faults import Fault, Planned, Reach
    from lastseat.lab import Lab
    from lastseat.nodes import Deployment

HOLDS_SECONDS = 0.8


async def played(reach: Reach, *schedule: Planned) -> list[FaultRecord]:
    async with Nemesis(schedule, reach) as nemesis:
        await nemesis.play(time.monotonic_ns())
    return nemesis.records


def planned(fault: Fault) -> Planned:
    return at(seconds=0, inject=fault, heal_after=None if fault.span == "moment" else HOLDS_SECONDS)


def stopped_processes(reach: Reach) -> list[str]:
    return [
        f"{part.name}: {process}"
        for part in reach.parts.values()
        for process in processes.family(part.pid)
        if process.status() == psutil.STATUS_STOPPED
    ]


LANDING = {
    Pause("node-a"): "node-a: 1 stopped",
    Pause("worker-notifier"): "an existing one silent for 0.25 s",
    Pause("leader"): "worker-expiry-",
    Pause("postgres"): "postgres: ",
    Pause("redis"): "redis: 1 stopped",
    Kill("node"): "was killed by signal 9 and reaped; node-",
    Kill("worker-expiry-2"): "was killed by signal 9 and reaped",
    Kill("redis"): "was killed by signal 9 and reaped",
    Terminate("node-b"): "was reaped",
    Terminate("worker-notifier-1"): "ended with exit code 0 and was reaped",
    Terminate("postgres"): "ended with exit code 0 and was reaped",
    Terminate("redis"): "ended with exit code 0 and was reaped",
    Restart("node-a"): "now pid",
    Restart("redis"): "now pid",
    Crash("postgres"): "was killed by signal 9 and reaped, as were all",
    Flush("redis"): "a mark from before is gone",
    Rollback("redis", lost_ms=50): "a mark written 50 ms before is undone",
    ProviderFault("notification", "down"): "a probe was refused",
    ProviderFault("notification", "late", by_ms=200): "a probe was answered after 2",
    ProviderFault("notification", "drop_reply"): "a probe was closed without an answer",
}  # fmt: skip


@pytest.mark.parametrize("fault", LANDING, ids=str)
async def test_a_fault_lands_and_is_healed(reach: Reach, fault: Fault) -> None:
    (record,) = await played(reach, planned(fault))

    assert record.error is None
    assert record.proof
    assert LANDING[fault] in record.proof
    assert record.injected_ns
    assert record.landed_ns
    assert record.healed_ns
    assert record.injected_ns < record.landed_ns < record.healed_ns
    assert all(part.running for part in reach.parts.values())
    assert stopped_processes(reach) == []
    assert reach.held == {}


async def test_a_paused_postgresql_has_no_process_that_runs_and_all_do_afterwards(
    reach: Reach, breakable: Lab, service: Deployment
) -> None:
    session = await asyncpg.connect(service.dsn)
    async with Nemesis([throughout(inject=Pause("postgres"))], reach) as nemesis:
        family = breakable.postgres.family()
        assert len(family) > 5
        assert {process.status() for process in family} == {psutil.STATUS_STOPPED}
        asking = asyncio.ensure_future(session.fetchval("SELECT 1"))
        assert not (await asyncio.wait({asking}, timeout=0.3))[0]
    assert await asyncio.wait_for(asking, 5) == 1
    assert nemesis.records[0].error is None
    await session.close()


async def test_a_crashed_postgresql_comes_back_with_what_was_committed(
    reach: Reach, service: Deployment
) -> None:
    session = await asyncpg.connect(service.dsn)
    await session.execute("CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
    (record,) = await played(reach, planned(Crash("postgres")))
    assert record.error is None
    with pytest.raises((asyncpg.PostgresError, asyncpg.InterfaceError, OSError)):
        await session.fetchval("SELECT n FROM kept")
    again = await asyncpg.connect(service.dsn)
    assert await again.fetchval("SELECT n FROM kept") == 7
    await again.close()


@pytest.mark.parametrize(
    ("fault", "old", "new"),
    [
        (Kill("redis"), None, None),
        (Restart("redis"), None, None),
        (Flush("redis"), None, None),
        (Rollback("redis", lost_ms=300), "1", None),
    ],
    ids=str,
)
async def test_redis_forgets_everything_or_only_the_last_of_it(
    reach: Reach, breakable: Lab, fault: Fault, old: str | None, new: str | None
) -> None:
    async with redis.from_url(breakable.redis_url, decode_responses=True) as client:
        await client.set("old", "1")
        playing = asyncio.create_task(played(reach, planned(fault)))
        if isinstance(fault, Rollback):
            async with asyncio.timeout(10):  # its own mark tells that the snapshot was taken
                while await client.get("lastseat:mark") != "after the snapshot":  # noqa: ASYNC110 - polled under a deadline
                    await asyncio.sleep(0.005)
            await client.set("new", "1")
        (record,) = await playing
        assert record.error is None
    async with redis.from_url(breakable.redis_url, decode_responses=True) as client:
        assert (await client.get("old"), await client.get("new")) == (old, new)


async def test_a_fault_waits_for_its_share_of_the_load(reach: Reach, progress: list[float]) -> None:
    progress[0] = 0.4
    schedule = [
        when("progress", at_least=0.5, inject=Flush("redis")),
        when("progress", at_least=0.9, inject=Kill("node-a"), heal_after=1),
    ]
    async with Nemesis(schedule, reach) as nemesis:
        playing = asyncio.create_task(nemesis.play(time.monotonic_ns()))
        await asyncio.wait({playing}, timeout=0.2)
        assert nemesis.records[0].injected_ns is None
        progress[0] = 0.6
        async with asyncio.timeout(10):
            while nemesis.records[0].healed_ns is None:  # noqa: ASYNC110 - a record, polled under a deadline
                await asyncio.sleep(0.01)
        nemesis.load_ended()
        await playing
    flushed, killed = nemesis.records
    assert flushed.landed_ns
    assert killed.injected_ns is None
    assert killed.error == "not injected: progress had reached 60% when the load ended"


async def test_a_condition_that_nobody_knows_is_not_offered(reach: Reach) -> None:
    schedule = [when("regress", at_least=0.5, inject=Flush("redis"))]
    with pytest.raises(Unavailable, match="waits for 'regress'; there are: progress"):
        async with Nemesis(schedule, reach):
            pass


async def test_a_pause_that_stops_nothing_is_recorded_as_not_landed(
    reach: Reach, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def freeze(pid: int) -> None:
        pass

    monkeypatch.setattr(processes, "freeze", freeze)
    (record,) = await played(reach, planned(Pause("node-a")))
    assert record.injected_ns
    assert record.landed_ns is None
    assert record.error == "not proven: node-a: only 0 of 1 processes are stopped"


async def test_a_session_that_answers_is_no_pause(reach: Reach, monkeypatch: pytest.MonkeyPatch) -> None:
    """The postmaster alone is stopped, as a naive pause would: its sessions go on."""

    async def head_only(pid: int) -> None:
        psutil.Process(pid).suspend()

    monkeypatch.setattr(processes, "freeze", head_only)
    monkeypatch.setattr(processes, "stopped", lambda _: (1, 1))
    (record,) = await played(reach, planned(Pause("postgres")))
    assert record.landed_ns is None
    assert record.error == "not proven: postgres: a session that was open before got '1'"


async def test_a_process_that_ended_before_is_recorded_as_not_injected(
    reach: Reach, service: Deployment
) -> None:
    async with Nemesis([planned(Kill("node-a"))], reach) as nemesis:
        await service.children["node-a"].kill()
        await nemesis.play(time.monotonic_ns())
    (record,) = nemesis.records
    assert record.injected_ns is None
    assert record.error == "not injected: node-a has ended already, with exit code -9"
    assert reach.parts["node-a"].running


@pytest.mark.parametrize("fault", [Kill("node-a"), Pause("postgres"), Restart("redis")], ids=str)
async def test_an_interrupted_run_leaves_nothing_stopped_or_dead(reach: Reach, fault: Fault) -> None:
    lasts = None if fault.span == "moment" else 60
    interrupted = at(seconds=0, inject=fault, heal_after=lasts)

    async def run() -> None:
        async with Nemesis([interrupted], reach) as nemesis:
            await nemesis.play(time.monotonic_ns())
            await asyncio.Event().wait()

    for after_ms in (0, 5, 15, 40, 120, 500):
        running = asyncio.create_task(run())
        await asyncio.wait({running}, timeout=0.05 + after_ms / 1_000)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert all(part.running for part in reach.parts.values())
        assert stopped_processes(reach) == []
        assert reach.held == {}
