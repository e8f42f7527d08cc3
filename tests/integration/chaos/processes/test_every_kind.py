"""Of every kind of fault there is: it lands and is healed, and one that comes to nothing makes a run inconclusive."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import asyncpg
import pytest

from chaos import processes
from chaos.faults import (
    KINDS,
    Bandwidth,
    Blackhole,
    Clock,
    Crash,
    CrashAt,
    Cut,
    Flush,
    Kill,
    Latency,
    LimitData,
    LostReply,
    Pause,
    ProviderFault,
    Reset,
    Restart,
    Rollback,
    Slicer,
    SlowClose,
    Terminate,
    throughout,
)
from chaos.providers.behaviour import Behaviour
from checker.verdict import Judgement
from lastseat.errors import ExitCode
from lastseat.lab import Lab
from lastseat.nodes import Deployer
from lastseat.reach import reach_of
from lastseat.rejudging import EXIT_CODES
from lastseat.workers import staffed
from tests.integration.chaos.processes.conftest import ENVIRONMENT, enqueue
from tests.integration.chaos.processes.played import Undone, broken, judged, landing

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from chaos.faults import Fault, Reach
    from tests.integration.chaos.processes.played import Deed

pytestmark = [pytest.mark.proof, pytest.mark.timeout(120)]

POINT: Final = "service.reservation.outbox:mark_delivered"
LATE: Final = Clock("node-b", 3_600)
DOOMED: Final = CrashAt("worker-notifier-1", POINT)
PROXIED: Final = ("redis-a", "pg-workers", "notification")


@pytest.fixture(scope="module")
async def everything(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Reach]:
    """A lab in which every kind can be had: proxied links, nodes, workers, a provider, servers of its own."""
    folder = tmp_path_factory.mktemp("everything")
    async with Lab.start(folder=folder) as lab:
        dsn = await lab.create_database("everything")
        start_so = (throughout(inject=LATE), throughout(inject=DOOMED))
        deployer = Deployer(lab=lab, environment=ENVIRONMENT, proxied=PROXIED, faults=start_so)
        await deployer.migrate(dsn)
        workers = {"expiry": 1, "notifier": 1}
        async with deployer.deploy(dsn, 2) as made, staffed(deployer, made, workers, folder):
            DSN.append(dsn)
            yield reach_of(lab, made, {})


DSN: Final[list[str]] = []


async def nothing(_reach: Reach) -> None:
    """It lands by itself, or comes to nothing by itself."""


async def notify(_reach: Reach) -> None:
    session = await asyncpg.connect(DSN[-1])
    await enqueue(session, "doomed-1")
    await session.close()


async def untoxic(reach: Reach) -> None:
    assert reach.network
    for link in reach.links.values():
        await reach.network.clear(link.name, "")


async def uncut(reach: Reach) -> None:
    assert reach.network
    for link in reach.links.values():
        await reach.network.restore(link.name)


async def resume(reach: Reach) -> None:
    processes.thaw(reach.parts["node-a"].pid)


async def start_again(reach: Reach) -> None:
    for part in reach.parts.values():
        await part.start()


async def kill_again(reach: Reach) -> None:
    await reach.parts["redis"].kill()


def remember(text: str) -> Deed:
    async def write(reach: Reach) -> None:
        await reach.parts["redis"].write_mark(text)  # type: ignore[attr-defined]  # it is a Store too

    return write


async def behave(reach: Reach) -> None:
    await reach.providers["notification"].behave(Behaviour())


@dataclass(frozen=True, kw_only=True)
class Case:
    """A fault, what must come along for it to land, and how it is brought to nothing; or another that comes to nothing."""

    fault: Fault
    meets: Deed = nothing
    undone: Deed = nothing
    vain: Fault | None = None


CASES: Final = (
    Case(fault=Bandwidth("redis", kilobytes_per_second=20), undone=untoxic),
    Case(fault=Blackhole("redis"), undone=untoxic),
    Case(fault=Cut("redis"), undone=uncut),
    Case(fault=Latency("redis", ms=150), undone=untoxic),
    Case(fault=LimitData("redis", limit_bytes=0), undone=untoxic),
    Case(fault=LostReply("redis"), undone=untoxic),
    Case(fault=Reset("redis"), undone=untoxic),
    Case(fault=Slicer("redis", size_bytes=16, pause_us=20_000), undone=untoxic),
    Case(fault=SlowClose("redis", ms=200), undone=untoxic),
    Case(fault=Cut("pg-workers"), undone=uncut),
    Case(fault=Latency("pg-workers", ms=150), undone=untoxic),
    Case(fault=Cut("notification"), undone=uncut),
    Case(fault=LimitData("notification", limit_bytes=1_000), undone=untoxic),
    Case(fault=SlowClose("notification", ms=200, stream="upstream"), undone=untoxic),
    Case(fault=Pause("node-a"), undone=resume),
    Case(fault=Kill("node-a"), undone=start_again),
    Case(fault=Terminate("node-a"), undone=start_again),
    Case(fault=Restart("redis"), undone=kill_again),
    Case(fault=Crash("postgres"), undone=start_again),
    Case(fault=Flush("redis"), undone=remember("not forgotten")),
    Case(fault=Rollback("redis", lost_ms=50), undone=remember("not undone")),
    Case(fault=LATE, vain=Clock("node-a", 3_600)),
    Case(fault=ProviderFault("notification", "down"), undone=behave),
    Case(fault=DOOMED, meets=notify, vain=CrashAt("worker-expiry-1", POINT)),
)


def test_every_kind_has_a_case() -> None:
    assert {case.fault.kind for case in CASES} == set(KINDS)
    assert all(case.undone is not nothing or case.vain for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.fault))
async def test_it_lands_and_is_healed(everything: Reach, case: Case, tmp_path: Path) -> None:
    since_ns = time.monotonic_ns()
    async with broken(everything, case.fault) as records:
        await case.meets(everything)
        await landing(records, within_seconds=15 if case.fault.awaits_victim else 0)
    (record,) = records
    assert (record.error, bool(record.proof)) == (None, True)
    assert record.healed_ns
    assert all(part.running for part in everything.parts.values())
    assert everything.held == {}
    assert judged(tmp_path / "run", case.fault.kind, records, since_ns).judgement is Judgement.VALID


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case.fault))
async def test_one_that_comes_to_nothing_makes_the_run_inconclusive(
    everything: Reach, case: Case, tmp_path: Path
) -> None:
    since_ns = time.monotonic_ns()
    vain: Any = case.vain or Undone(case.fault, case.undone)
    async with broken(everything, vain) as records:
        pass
    (record,) = records
    assert (record.landed_ns, record.proof) == (None, None)
    verdict = judged(tmp_path / "run", case.fault.kind, records, since_ns)
    assert EXIT_CODES[verdict.judgement] is ExitCode.INCONCLUSIVE
    assert any(f"{case.fault.kind}: 0 of 1 landed (not proven: " in reason for reason in verdict.reasons)
    assert all(part.running for part in everything.parts.values()), "what it began to break is healed even so"
