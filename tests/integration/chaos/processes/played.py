"""A fault played in a lab, or undone as soon as it is in place, and a run judged by what became of it."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final

from chaos.faults import at, throughout
from chaos.nemesis import Nemesis
from checker.assumptions import landed
from checker.judge import check
from lastseat.records import write_faults
from tests.oracle.by_hand.run import Run

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from chaos.faults import Fault, Planned, Reach
    from chaos.nemesis import FaultRecord
    from checker.verdict import Verdict

    Deed = Callable[[Reach], Awaitable[None]]

HOLDS_SECONDS: Final = 1.0


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
