"""Runs are judged by a process of their own, beside the next scenario: `python -m lastseat.judging`.

It turns what a run has recorded into evidence, seals it, and writes verdict.json. To judge takes the better part of a
second, in which the lab would stand idle.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from checker.seal import seal
from checker.trail import DecodeError, SpoolError, read_record, to_parquet
from checker.trail.decode import SPOOL
from checker.trail.record import write_record
from checker.verdict import Verdict
from lastseat.clerk import Clerk, ClerkGone, serve
from lastseat.errors import LabError, UsageError
from lastseat.rejudging import judged, write_verdict
from scenarios import history

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

JUDGE_SECONDS = 900.0
"""Far more than the invariants may take together, each of which has a bound of its own."""
_NICENESS = 5


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Judge this folder, with the invariants of these folders besides those that its scenario names."""

    folder: str
    invariant_folders: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict stands in verdict.json, unless `problem` says why the evidence cannot be judged."""

    problem: str | None = None


class Judging:
    """The judging process, as the runner sees it; see `open`."""

    def __init__(self, clerk: Clerk) -> None:
        self.clerk = clerk
        self._turn = asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(cls, log: Path) -> AsyncIterator[Judging]:
        """Start it; it is ended at the end of the block, by force."""
        async with Clerk.open(__name__, log) as clerk:
            yield cls(clerk)

    async def judge(self, folder: Path, invariant_folders: Sequence[Path]) -> Verdict:
        """Have a run judged, one after the other in the order of the calls; raises LabError where it cannot be."""
        order = Order(
            folder=str(folder.resolve()),
            invariant_folders=tuple(str(each.resolve()) for each in invariant_folders),
        )
        async with self._turn:
            self.clerk.order(order)
            try:
                answer = msgspec.json.decode(await self.clerk.answer(JUDGE_SECONDS), type=Answer)
            except ClerkGone as gone:
                answer = Answer(problem=f"{gone}; see logs/judging.log of the season's first run")
        if answer.problem is not None:
            raise LabError(f"its evidence cannot be judged: {answer.problem}", where=str(folder))
        return msgspec.json.decode((folder / "verdict.json").read_bytes(), type=Verdict)


def conclude(folder: Path, invariant_folders: tuple[Path, ...]) -> Verdict:
    """Make evidence of what a run has recorded, seal it, judge it, and write the verdict."""
    if (folder / SPOOL).is_file():
        write_record(folder, to_parquet(folder, read_record(folder)))
    history.write_history(folder)
    seal(folder)
    verdict = judged(folder, invariant_folders)
    write_verdict(folder, verdict)
    return verdict


def _concluded(order: Order) -> Answer:
    try:
        conclude(Path(order.folder), tuple(Path(each) for each in order.invariant_folders))
    except (UsageError, DecodeError, SpoolError, history.JournalUnreadable) as problem:
        return Answer(problem=str(problem))
    except Exception as problem:  # noqa: BLE001 - one run that cannot be judged must not cost the others
        return Answer(problem=f"{type(problem).__name__}: {problem}")
    return Answer()


if __name__ == "__main__":
    serve(Order, _concluded, niceness=_NICENESS)
