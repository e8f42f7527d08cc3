"""A process beside the lab that takes one order a line and answers each with a line, in turn.

What is costly to load, or to compute, is done there: it warms up while the lab does, and works beside the next scenario.
The two lines are JSON; it ends when its input does.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from lastseat.processes import die_with_parent

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncIterator, Callable

Asked = TypeVar("Asked", bound=msgspec.Struct)
LINE_BYTES_MAX = 1 << 20
SESSION_NICENESS_MAX = 5
"""A third of what others get. With less it would wait for minutes on a machine on which others never rest."""
_WISHES_MAX, _WISH_SECONDS = 5, 0.11
"""Linux grants one such wish in a tenth of a second, of all processes that are not root's (kernel/sched/autogroup.c)."""


class ClerkGone(Exception):  # noqa: N818 - says what is the case
    """The process has ended, or is not done in time."""


class ClerkLate(ClerkGone):
    """The process is not done in time; its answer may still come, when nobody expects it any more."""


class Clerk:
    """The process, as the runner sees it; see `open`. Where none is wanted, there is none, and nothing may be ordered."""

    def __init__(self, module: str, log: Path) -> None:
        self.process: Process | None = None
        self._module = module
        self._log = log

    @classmethod
    @asynccontextmanager
    async def open(cls, module: str, log: Path, *, wanted: bool = True) -> AsyncIterator[Clerk]:
        """Start `python -m module`; it is ended at the end of the block, by force, so what is still wanted comes first."""
        clerk = cls(module, log)
        if wanted:
            await clerk._start()
        try:
            yield clerk
        finally:
            await clerk._end()

    async def start_again(self) -> None:
        """End the process, whatever it is doing, and start another that has no orders; raises ClerkGone."""
        await self._end()
        try:
            await self._start()
        except OSError as refused:
            raise ClerkGone(f"its process could not be started again: {refused}") from refused

    def order(self, what: msgspec.Struct) -> None:
        """Order something, and go on; a process that has ended is told by `answer`."""
        if self.process is not None and self.process.stdin is not None:
            self.process.stdin.write(msgspec.json.encode(what) + b"\n")

    async def answer(self, within_seconds: float) -> bytes:
        """Return the answer to the oldest order that has none yet; raises ClerkGone."""
        stream = self.process.stdout if self.process is not None else None
        try:
            line = await asyncio.wait_for(stream.readline(), within_seconds) if stream is not None else b""
        except TimeoutError:
            raise ClerkLate(f"not done within {within_seconds:g} s") from None
        if not line:
            raise ClerkGone("its process has ended")
        return line

    async def _start(self) -> None:
        with self._log.open("ab") as output:
            self.process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", self._module),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=output,
                start_new_session=True,  # the terminal's Ctrl-C is the runner's to answer
                limit=LINE_BYTES_MAX,
            )

    async def _end(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            if process.returncode is None:
                process.kill()
            await process.wait()


def _stand_back(niceness: int) -> None:
    """Let others have the processor first: those of other sessions too, for which Linux compares not processes but sessions.

    This process has a session of its own, with whoever it starts.
    """
    os.nice(niceness)
    for _ in range(_WISHES_MAX):
        try:
            Path("/proc/self/autogroup").write_text(str(min(niceness, SESSION_NICENESS_MAX)))
        except BlockingIOError:
            time.sleep(_WISH_SECONDS)  # nothing tells when the next wish is taken; so often and no oftener
        except OSError:  # not every system groups by session; see sched(7)
            return
        else:
            return


def serve(
    kind: type[Asked],
    do: Callable[[Asked], msgspec.Struct],
    *,
    niceness: int,
    warm: Callable[[], object] = lambda: None,
) -> None:
    """Warm up, and do what is ordered until the input ends, whenever nobody who matters more wants the processor."""
    die_with_parent(signal.SIGKILL)
    _stand_back(niceness)
    warm()
    for line in sys.stdin.buffer:
        order = msgspec.json.decode(line, type=kind)
        sys.stdout.buffer.write(msgspec.json.encode(do(order)) + b"\n")
        sys.stdout.buffer.flush()
