"""Reports are drawn by a process of their own, beside the next scenario: `python -m lastseat.drawing`.

Matplotlib costs a second to load and another to draw; here both happen on whatever processor time is left over.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import reports
from checker.verdict import Verdict
from lastseat.clerk import Clerk, ClerkGone, serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DRAW_SECONDS = 60.0
"""How long one report may take; far more than a large one takes on a busy machine."""
_NICENESS = 19


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Draw this folder's report, then the page over all runs."""

    folder: str
    runs: str


class Drawn(msgspec.Struct, frozen=True, kw_only=True):
    """The report of this folder stands there, unless `problem` says why not."""

    folder: str
    problem: str | None = None


class Drawing:
    """The drawing process, as the runner sees it; see `open`. Where none is wanted, orders are forgotten."""

    def __init__(self, clerk: Clerk) -> None:
        self.clerk = clerk
        self._ordered: list[str] = []

    @classmethod
    @asynccontextmanager
    async def open(cls, log: Path, *, wanted: bool = True) -> AsyncIterator[Drawing]:
        """Start it; it is ended at the end of the block, by force, so `finish` comes first."""
        async with Clerk.open(__name__, log, wanted=wanted) as clerk:
            yield cls(clerk)

    def draw(self, folder: Path, runs: Path) -> None:
        """Order the report of a judged run, and go on."""
        if self.clerk.process is None:
            return
        order = Order(folder=str(folder.resolve()), runs=str(runs.resolve()))
        self._ordered.append(order.folder)
        self.clerk.order(order)

    async def finish(self) -> list[str]:
        """Wait for every report that was ordered; return a sentence for each that could not be drawn."""
        problems = []
        for folder in self._ordered:
            try:
                answer = await self._answer(folder)
            except ClerkGone as gone:
                answer = Drawn(folder=folder, problem=f"{gone}; see logs/drawing.log")
            if answer.problem is not None:
                problems.append(f"the report of {folder} could not be drawn: {answer.problem}")
        self._ordered.clear()
        return problems

    async def _answer(self, folder: str) -> Drawn:
        """Return the answer for this folder; one that comes late for an earlier folder was told of already."""
        while True:
            answer = msgspec.json.decode(await self.clerk.answer(DRAW_SECONDS), type=Drawn)
            if answer.folder == folder:
                return answer


def _drawn(order: Order) -> Drawn:
    folder = Path(order.folder)
    try:
        verdict = msgspec.json.decode((folder / "verdict.json").read_bytes(), type=Verdict)
        reports.write(folder, verdict)
        reports.write_index(Path(order.runs))
    except Exception as problem:  # noqa: BLE001 - one report that fails must not cost the others
        return Drawn(folder=order.folder, problem=f"{type(problem).__name__}: {problem}")
    return Drawn(folder=order.folder)


if __name__ == "__main__":
    serve(Order, _drawn, niceness=_NICENESS, warm=reports.warm)
