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

from checker.verdict import Verdict
from lastseat.clerk import Clerk, ClerkGone, ClerkLate, serve
from lastseat.errors import LabError, UsageError
from lastseat.rejudging import conclude

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

JUDGE_SECONDS = 900.0
"""Far more than the invariants may take together, each of which has a bound of its own."""
TRIES_MAX = 2
"""A process that died, of what the system did to it or of the run itself, is started again; not for ever."""
_NICENESS = 5


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Judge this folder, with the invariants of these folders besides those that its scenario names."""

    folder: str
    invariant_folders: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict stands in this folder's verdict.json, unless `problem` says why its evidence cannot be judged."""

    folder: str
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
            answer = await self._answered(order)
        if answer.problem is not None:
            raise LabError(f"its evidence cannot be judged: {answer.problem}", where=str(folder))
        try:
            return msgspec.json.decode((folder / "verdict.json").read_bytes(), type=Verdict)
        except (OSError, msgspec.MsgspecError) as odd:
            raise LabError(f"its verdict cannot be read: {odd}", where=str(folder)) from odd

    async def _answered(self, order: Order) -> Answer:
        """Have it done by a process that is started again where it died; one that is late is ended and not asked twice."""
        problem = ""
        for _ in range(TRIES_MAX):
            try:
                return await self._asked(order)
            except ClerkGone as gone:
                problem = str(gone)
                late = isinstance(gone, ClerkLate)
            try:
                await self.clerk.start_again()
            except ClerkGone as gone:
                problem = str(gone)
                break
            if late:
                break
        return Answer(
            folder=order.folder, problem=f"{problem}; see logs/judging.log of the season's first run"
        )

    async def _asked(self, order: Order) -> Answer:
        self.clerk.order(order)
        answer = msgspec.json.decode(await self.clerk.answer(JUDGE_SECONDS), type=Answer)
        if answer.folder != order.folder:
            raise ClerkGone(f"its process has answered for another run, {answer.folder}")
        return answer


def _concluded(order: Order) -> Answer:
    try:
        conclude(Path(order.folder), tuple(Path(each) for each in order.invariant_folders))
    except UsageError as problem:
        return Answer(folder=order.folder, problem=str(problem))
    except Exception as problem:  # noqa: BLE001 - one run that cannot be judged must not cost the others
        return Answer(folder=order.folder, problem=f"{type(problem).__name__}: {problem}")
    return Answer(folder=order.folder)


if __name__ == "__main__":
    serve(Order, _concluded, niceness=_NICENESS)
