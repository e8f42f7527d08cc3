"""Reports are drawn by a process of their own, which warms up while the lab does and draws beside the next scenario.

Matplotlib costs a second to load and another to draw; here both happen on whatever processor time is left over.
`python -m lastseat.drawing` reads one order a line and answers each with a line; it ends when its input does.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import reports
from checker.verdict import Verdict
from lastseat.processes import die_with_parent

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator

DRAW_SECONDS = 60.0
"""How long one report may take; far more than a large one takes on a busy machine."""
_NICENESS = 19
_LINE_BYTES_MAX = 1 << 16


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

    def __init__(self, process: Process | None) -> None:
        self._process = process
        self._ordered: list[str] = []

    @classmethod
    @asynccontextmanager
    async def open(cls, log: Path, *, wanted: bool = True) -> AsyncIterator[Drawing]:
        """Start it; it is ended at the end of the block, by force, so `finish` comes first."""
        if not wanted:
            yield cls(None)
            return
        with log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "lastseat.drawing"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=output,
                start_new_session=True,  # the terminal's Ctrl-C is the runner's to answer
                limit=_LINE_BYTES_MAX,
            )
        try:
            yield cls(process)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()

    def draw(self, folder: Path, runs: Path) -> None:
        """Order the report of a judged run, and go on."""
        if self._process is None:
            return
        order = Order(folder=str(folder.resolve()), runs=str(runs.resolve()))
        self._ordered.append(order.folder)
        if self._process.stdin is not None:
            self._process.stdin.write(msgspec.json.encode(order) + b"\n")

    async def finish(self) -> list[str]:
        """Wait for every report that was ordered; return a sentence for each that could not be drawn."""
        problems = []
        for folder in self._ordered:
            try:
                answer = await asyncio.wait_for(self._answer(), DRAW_SECONDS)
            except TimeoutError:
                answer = Drawn(folder=folder, problem=f"not done within {DRAW_SECONDS:g} s")
            if answer.problem is not None:
                problems.append(f"the report of {folder} could not be drawn: {answer.problem}")
        self._ordered.clear()
        return problems

    async def _answer(self) -> Drawn:
        stream = self._process.stdout if self._process is not None else None
        line = await stream.readline() if stream is not None else b""
        if not line:
            return Drawn(folder="", problem="the drawing process has ended; see logs/drawing.log")
        return msgspec.json.decode(line, type=Drawn)


def serve() -> None:
    """Warm up, then draw what is ordered until the input ends."""
    die_with_parent(signal.SIGKILL)
    os.nice(_NICENESS)
    reports.warm()
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=Order)
        sys.stdout.buffer.write(msgspec.json.encode(_drawn(order)) + b"\n")
        sys.stdout.buffer.flush()


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
    serve()
