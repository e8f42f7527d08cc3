"""One load process as the runner sees it: where it stands, what it said, and how it ended."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from scenarios import control
from scenarios.control import Finished, Health, Tally

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Collection, Mapping, Sequence
    from pathlib import Path

    from scenarios.control import ToLoad

_TAIL_LINES = 20
_END_SECONDS = 5.0
_LAST_WORD_SECONDS = 5.0
_LISTEN_SECONDS = 0.5

Step = TypeVar("Step")


class Child(Protocol):
    """A load process, as the lab started it."""

    @property
    def log(self) -> Path:
        """Where it writes its output."""

    @property
    def exited(self) -> bool:
        """Whether it has ended."""

    async def wait(self, within_seconds: float) -> int:
        """Wait for its end and return the exit code."""

    def signal(self, number: int) -> None:
        """Send it a signal."""


class Spawn(Protocol):
    """How the lab starts a process."""

    def __call__(self, role: str, argv: Sequence[str], *, env: Mapping[str, str]) -> Awaitable[Child]:
        """Start it."""


class LoadError(Exception):
    """The load could not be played: which load process, what happened, and the last lines of its log."""


@dataclass(slots=True, eq=False)
class Seat:
    """One shard as the runner sees it: where it writes its output, `words` counts what it said, `silent` is set when it can say no more."""

    shard: int
    child: Child
    log: Path
    hello: asyncio.Future[None]
    ready: asyncio.Future[None]
    finished: asyncio.Future[Finished]
    writer: asyncio.StreamWriter | None = None
    tally: Tally = field(default_factory=Tally)
    health: list[Health] = field(default_factory=list)
    words: int = 0
    silent: asyncio.Event = field(default_factory=asyncio.Event)

    def send(self, message: ToLoad) -> None:
        """Say something to it, once it has claimed its seat."""
        if self.writer is not None:
            self.writer.write(control.line(message))

    def write_into(self, folder: Path | None) -> None:
        """Name the file in this folder that it is to write into from now on; None: where it writes already."""
        if folder is not None:
            self.log = folder / f"load-{self.shard}.log"

    def lose(self, reason: LoadError) -> None:
        """Let everyone who waits for one of its steps know why it will not come."""
        for waiting in (self.hello, self.ready, self.finished):
            if not waiting.done():
                waiting.set_exception(reason)
                waiting.exception()  # read here, so that one which nobody awaits is not reported as lost

    def failure(self, sentence: str) -> LoadError:
        """Make the error that says what happened to it, with the last lines of its log."""
        try:
            said = self.log.read_text(errors="replace").splitlines()[-_TAIL_LINES:]
        except OSError:
            said = []
        return LoadError(
            "\n".join((f"load process {self.shard} {sentence}", *(f"    {line}" for line in said)))
        )

    async def heard_out(self) -> None:
        """Hear what it said to the end: the news of its exit may come before its last words do."""
        if self.writer is not None:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.silent.wait(), _LAST_WORD_SECONDS)

    async def gone(self) -> None:
        """Wait for its end, and force it where it does not come."""
        with contextlib.suppress(Exception):
            await self.child.wait(_END_SECONDS)
        if not self.child.exited:
            self.child.signal(signal.SIGKILL)


async def all_made(seats: Collection[Seat], step: str, within_seconds: float, missing: str) -> None:
    """Wait until every seat has made a step; raises the first LoadError, or one that names who is missing."""
    steps = {seat: getattr(seat, step) for seat in seats}
    _, pending = await asyncio.wait(
        steps.values(), timeout=within_seconds, return_when=asyncio.FIRST_EXCEPTION
    )
    for done in steps.values():
        if done.done():
            done.result()
    late = [seat for seat, waiting in steps.items() if waiting in pending]
    if late:
        raise late[0].failure(f"{missing} within {within_seconds:g} s")


def make(step: asyncio.Future[Step], result: Step) -> None:
    """Note that a seat has made a step, unless it was given up or has made it before."""
    if not step.done():
        step.set_result(result)


@asynccontextmanager
async def listened_to(seats: Collection[Seat], silence_seconds: float) -> AsyncIterator[None]:
    """Give up, while the block runs, each load process that says nothing for so long."""
    listening = [asyncio.create_task(_listen(seat, silence_seconds)) for seat in seats]
    try:
        yield
    finally:
        for each in listening:
            each.cancel()
        await asyncio.wait(listening, timeout=_END_SECONDS)


async def _listen(seat: Seat, silence_seconds: float) -> None:
    """Count the looks that found nothing new, and not the time: a runner that was itself stopped heard nobody meanwhile."""
    looks = heard = 0
    while looks * _LISTEN_SECONDS < silence_seconds and not seat.finished.done():
        await asyncio.sleep(_LISTEN_SECONDS)  # between two looks; the loop around it has the deadline
        looks = looks + 1 if seat.words == heard else 0
        heard = seat.words
    if not seat.finished.done():
        seat.lose(seat.failure(f"has said nothing for {silence_seconds:g} s: it has stopped, or is stuck"))
