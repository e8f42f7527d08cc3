"""Of every kind of fault there is: it lands and is healed, and one that comes to nothing makes a run inconclusive."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
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
    at,
    throughout,
)
from chaos.nemesis import Nemesis
from chaos.providers.behaviour import Behaviour
from checker.assumptions import landed
from checker.judge import check
from checker.verdict import Judgement
from lastseat.errors import ExitCode
from lastseat.lab import Lab
from lastseat.nodes import Deployer
from lastseat.reach import reach_of
from lastseat.records import write_faults
from lastseat.rejudging import EXIT_CODES
from lastseat.workers import staffed
from tests.integration.chaos.processes.conftest import ENVIRONMENT, enqueue
from tests.oracle.by_hand.run import Run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from chaos.faults import Fault, Planned, Reach
    from chaos.nemesis import FaultRecord
    from checker.verdict import Verdict

    Deed = Callable[[Reach], Awaitable[None]]

pytestmark = [pytest.mark.proof, pytest.mark.timeout(120)]

POINT: Final = "service.reservation.outbox:mark_delivered"
LATE: Final = Clock("node-b", 3_600)
DOOMED: Final = CrashAt("worker-notifier-1", POINT)
HOLDS_SECONDS: Final = 1.0


@pytest.fixture(scope="module")
async def everything(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Reach]:
    """A lab in which every kind can be had: proxied links, nodes, workers, a provider, servers of its own."""
    folder = tmp_path_factory.mktemp("everything")
    async with Lab.start(folder=folder) as lab:
        dsn = await lab.create_database("everything")
        start_so = (throughout(inject=LATE), throughout(inject=DOOMED))
        deployer = Deployer(lab=lab, environment=ENVIRONMENT, proxied=("redis-a",), faults=start_so)
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


class Undone:
    """A fault that somebody undoes as soon as it is in place."""

    def __init__(self, fault: Fault, undo: Deed) -> None:
        self._fault = fault
        self._undo = undo

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fault, name)

    def __str__(self) -> str:
        return str(self._fault)

    async def inject(self, reach: Reach, tag: str) -> None:
        await self._fault.inject(reach, tag)
        await self._undo(reach)


def planned(fault: Fault) -> Planned:
    if fault.span == "throughout":
        return throughout(inject=fault)
    return at(seconds=0, inject=fault, heal_after=None if fault.span == "moment" else HOLDS_SECONDS)


@asynccontextmanager
async def broken(reach: Reach, fault: Fault) -> AsyncIterator[list[FaultRecord]]:
    async with Nemesis([planned(fault)], reach) as nemesis:
        await nemesis.play(time.monotonic_ns())
        yield nemesis.records


async def landing(records: list[FaultRecord], within_seconds: float) -> None:
    """Wait for a proof that may come at any time."""
    deadline = time.monotonic() + within_seconds
    while records[0].landed_ns is None and time.monotonic() < deadline:  # noqa: ASYNC110 - a record, polled under a deadline
        await asyncio.sleep(0.05)


def judged(folder: Path, kind: str, records: list[FaultRecord], since_ns: int) -> Verdict:
    """Judge a run in which somebody read before and all the while, with these faults as a run writes them down."""
    run = Run(folder)
    for sent_ns, done_ns in ((since_ns - 2_000_000, since_ns - 1_000_000), (since_ns, time.monotonic_ns())):
        run.operation("read", "r", sent=1, done=2)
        run.operations[-1] |= {"intended_ns": sent_ns, "sent_ns": sent_ns, "done_ns": done_ns}
    run.given(invariants=("errors_are_earned",)).assume(landed(kind)).write()
    write_faults(folder, records)
    return check(folder)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.fault.kind)
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


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.fault.kind)
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
