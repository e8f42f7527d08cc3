"""The processes of a lab as the runner has them: how each is started, signalled and waited for."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lastseat.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lastseat.account import Account
    from lastseat.supervision import Supervision

TAIL_LINES = 20


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """Return the last lines of a log, or an empty string when there is none."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 16_384))
            return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])
    except OSError:
        return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a process is started; enough to start the same one again.

    `account` None means the runner's own user. A `postmaster` is asked to quit before it is killed. What PostgreSQL
    leaves in shared memory for `data_folder` is removed at the end.
    """

    role: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    log: Path
    account: Account | None = None
    data_folder: Path | None = None
    postmaster: bool = False


@dataclass(slots=True, eq=False)
class Child:
    """One process of the lab, a child of the supervisor and the leader of its own session."""

    pid: int
    start: Start
    supervision: Supervision
    _ended: asyncio.Future[int] = field(repr=False)

    @property
    def role(self) -> str:
        """What it is in the lab: `node-a`, `worker-1`, `postgres`."""
        return self.start.role

    @property
    def log(self) -> Path:
        """Where it writes its output."""
        return self.start.log

    @property
    def exited(self) -> bool:
        """Whether it has ended and was reaped."""
        return self._ended.done()

    @property
    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs, or if the supervisor is gone."""
        return self._ended.result() if self._ended.done() and not self._ended.exception() else None

    async def wait(self, within_seconds: float) -> int:
        """Wait until it has ended; return its exit code (negative: the signal). Raises LabError at the deadline."""
        try:
            return await asyncio.wait_for(asyncio.shield(self._ended), within_seconds)
        except TimeoutError:
            raise self.error(f"{self.role} did not end within {within_seconds:g} s") from None

    def signal(self, number: int, *, whole_group: bool = False) -> None:
        """Send a signal to it (or to its whole process group) without waiting; nothing happens if it has ended."""
        if not self.exited:
            self.supervision.send_signal(self.pid, number, whole_group=whole_group)

    async def kill(self, within_seconds: float = 5.0) -> int:
        """Kill -9, and wait until it was reaped; works on a stopped process too."""
        self.signal(signal.SIGKILL)
        return await self.wait(within_seconds)

    async def terminate(self, within_seconds: float = 10.0) -> int:
        """Ask it to end (SIGTERM) and wait; raises LabError if it does not."""
        self.signal(signal.SIGTERM)
        return await self.wait(within_seconds)

    async def respawn(self) -> Child:
        """Start the same process again (same arguments, environment, log) after it has ended."""
        if not self.exited:
            raise LabError(f"{self.role} (pid {self.pid}) still runs and cannot be started again")
        return await self.supervision.spawn(self.start)

    def error(self, message: str) -> LabError:
        """Make a LabError about it, with the end of its log."""
        return LabError(message, where=f"{self.role}, pid {self.pid}, {self.log}", log_tail=tail(self.log))
