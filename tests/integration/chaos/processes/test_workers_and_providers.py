"""Workers that send to a provider which misbehaves, kills them, or finds them dead at a point of their own."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import asyncpg
import pytest
from pyarrow import parquet as pq

from chaos.faults import Clock, CrashAt, ProviderFault, at, throughout
from chaos.nemesis import Nemesis
from chaos.providers import ledger
from checker.schemas import EFFECTS
from lastseat.nodes import Deployer
from lastseat.reach import reach_of
from lastseat.records import write_effects
from lastseat.waiting import until
from lastseat.workers import dismiss, staffed
from tests.integration.chaos.processes.conftest import ENVIRONMENT, enqueue

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from chaos.faults import Planned, Reach
    from lastseat.lab import Lab
    from lastseat.nodes import Deployment


async def reached(sql: asyncpg.Connection, **wanted: str) -> dict[str, Any]:
    """Wait until each delivery (its hyphens written as underscores) is in that state; return attempts by delivery."""
    rows: dict[str, Any] = {}

    async def all_there() -> bool | None:
        found = await sql.fetch("SELECT delivery_id, state, attempt_count FROM notification_outbox")
        rows.update(
            {row["delivery_id"].replace("-", "_"): (row["state"], row["attempt_count"]) for row in found}
        )
        return True if all(rows.get(name, ("",))[0] == state for name, state in wanted.items()) else None

    await until(all_there, within_seconds=20, failing=lambda _: pytest.fail(f"not {wanted} but {rows}"))
    return {name: attempts for name, (_, attempts) in rows.items()}


def answers(service: Deployment, effect: str) -> list[tuple[str, str]]:
    """What the provider's ledger says of an effect, and who asked."""
    entries = ledger.read(service.providers["notification"].ledger)
    return [(entry.answer, entry.caller) for entry in entries if entry.effect == effect]


async def test_a_notice_is_accepted_once_and_stands_in_the_evidence(
    service: Deployment, sql: asyncpg.Connection, tmp_path: Path
) -> None:
    await enqueue(sql, "plain-1")
    assert await reached(sql, plain_1="DELIVERED") == {"plain_1": 1}

    write_effects(tmp_path, [service.providers["notification"].ledger])
    table = pq.read_table(tmp_path / "effects.parquet")
    assert table.schema.equals(EFFECTS)
    (effect,) = (row for row in table.to_pylist() if row["effect"] == "plain-1")
    assert effect["received_ns"] < time.monotonic_ns()
    assert (effect["provider"], effect["answer"], effect["payload"]) == (
        "notification",
        "accepted",
        '{"to": "buyer"}',
    )


async def test_a_worker_that_is_killed_after_the_effect_sends_again_and_the_effect_stays_one(
    reach: Reach, service: Deployment, sql: asyncpg.Connection
) -> None:
    before = reach.parts["worker-notifier-1"].pid
    fault = at(seconds=0, inject=ProviderFault("notification", "kill_caller"), heal_after=1.5)
    async with Nemesis([fault], reach) as nemesis:
        await enqueue(sql, "killed-1")
        await nemesis.play(time.monotonic_ns())
        (record,) = nemesis.records
        assert record.proof
        assert (
            "worker-notifier-1 was killed by signal 9 and reaped after killed-1 was accepted" in record.proof
        )
        assert await sql.fetchval("SELECT state FROM notification_outbox") == "CLAIMED"
    assert record.error is None
    assert reach.parts["worker-notifier-1"].pid != before
    assert await reached(sql, killed_1="DELIVERED") == {"killed_1": 2}
    assert answers(service, "killed-1") == [
        ("accepted", "worker-notifier-1"),
        ("duplicate", "worker-notifier-1"),
    ]


async def test_a_lost_reply_makes_a_duplicate_and_no_second_effect(
    reach: Reach, service: Deployment, sql: asyncpg.Connection
) -> None:
    fault = throughout(inject=ProviderFault("notification", "drop_reply", times=1))
    async with Nemesis([fault], reach) as nemesis:
        await enqueue(sql, "dropped-1")
        await reached(sql, dropped_1="DELIVERED")
    assert nemesis.records[0].proof == "requests that met it: 1"
    assert [answer for answer, _ in answers(service, "dropped-1")] == ["accepted", "duplicate"]


async def test_a_refused_id_fails_for_ever_and_stops_no_other(
    reach: Reach, service: Deployment, sql: asyncpg.Connection
) -> None:
    fault = throughout(inject=ProviderFault("notification", "refuse", only="poison"))
    async with Nemesis([fault], reach):
        await enqueue(sql, "poison-1", "sound-1")
        attempts = await reached(sql, poison_1="EXHAUSTED", sound_1="DELIVERED")
    assert attempts == {"poison_1": 5, "sound_1": 1}
    await enqueue(sql, "poison-1b")
    await reached(sql, poison_1b="DELIVERED")  # the fault is healed: only the id that met it stays refused
    await sql.execute("DELETE FROM notification_outbox WHERE delivery_id = 'poison-1'")
    await enqueue(sql, "poison-1")
    await reached(sql, poison_1="EXHAUSTED")
    assert {answer for answer, _ in answers(service, "poison-1")} == {"failed"}


async def test_a_provider_that_is_down_is_refused_and_caught_up_with_afterwards(
    reach: Reach, sql: asyncpg.Connection
) -> None:
    fault = at(seconds=0, inject=ProviderFault("notification", "down"), heal_after=0.5)
    async with Nemesis([fault], reach) as nemesis:
        await enqueue(sql, "down-1")
        await nemesis.play(time.monotonic_ns())
        assert (await reached(sql, down_1="DELIVERED"))["down_1"] > 1
    assert nemesis.records[0].error is None


@asynccontextmanager
async def deployed(lab: Lab, name: str, faults: list[Planned]) -> AsyncIterator[tuple[Deployment, Reach]]:
    """One node and one notifier of their own, started as the schedule wants them."""
    dsn = await lab.create_database(name)
    deployer = Deployer(lab=lab, environment=ENVIRONMENT, faults=faults)
    await deployer.migrate(dsn)
    async with deployer.deploy(dsn, 1) as made, staffed(deployer, made, {"notifier": 1}, lab.folder / name):
        yield made, reach_of(lab, made, {})
    await lab.drop_database(dsn)


async def test_crash_points_and_wrong_clocks_hold_from_the_start_of_a_process(breakable: Lab) -> None:
    schedule = [
        throughout(inject=CrashAt("worker-notifier-1", "service.reservation.outbox:mark_delivered")),
        throughout(inject=Clock("node-a", -7_200)),
    ]
    async with deployed(breakable, "tampered", schedule) as (made, reach):
        sql = await asyncpg.connect(made.dsn)
        async with Nemesis(schedule, reach) as nemesis:
            crash, clock = nemesis.records
            assert clock.proof
            assert clock.proof.startswith("the clock of node-a is -7")
            assert crash.landed_ns is None
            await enqueue(sql, "crashed-1")
            await until(
                landed(nemesis),
                within_seconds=15,
                failing=lambda _: pytest.fail("the notifier did not die"),
            )
            assert crash.proof == "worker-notifier-1 died at service.reservation.outbox:mark_delivered"
            assert made.children["worker-notifier-1"].exit_code == -9
        assert crash.error is None
        assert await reached(sql, crashed_1="DELIVERED") == {"crashed_1": 2}
        assert [answer for answer, _ in answers(made, "crashed-1")] == ["accepted", "duplicate"]
        await dismiss(made)
        assert not reach.parts["worker-notifier-1"].running
        await sql.close()


def landed(nemesis: Nemesis) -> Any:
    async def look() -> bool | None:
        return True if nemesis.records[0].landed_ns else None

    return look


async def test_a_clock_that_is_right_is_recorded_as_not_landed(reach: Reach) -> None:
    async with Nemesis([throughout(inject=Clock("node-a", 3_600))], reach) as nemesis:
        pass
    (record,) = nemesis.records
    assert record.landed_ns is None
    assert record.error
    assert record.error.startswith("not proven: the clock of node-a is ")


async def test_a_crash_point_that_nobody_reaches_is_recorded_as_not_landed(reach: Reach) -> None:
    async with Nemesis([throughout(inject=CrashAt("node", "service.x:y"))], reach) as nemesis:
        pass
    (record,) = nemesis.records
    assert record.landed_ns is None
    assert record.error == "not proven: nobody has come to service.x:y"
