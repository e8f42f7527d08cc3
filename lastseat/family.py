"""A server's whole family of processes, safe against reused process numbers."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import psutil

from lastseat.errors import LabError
from lastseat.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterable


def living(pid: int) -> list[psutil.Process]:
    """Return a process and all below it, itself first; empty when it is gone."""
    with contextlib.suppress(psutil.NoSuchProcess):
        head = psutil.Process(pid)
        return [head, *head.children(recursive=True)]
    return []


def listens(pid: int, port: int) -> bool:
    """Tell whether a process itself listens on a TCP port."""
    with contextlib.suppress(psutil.Error):
        found = psutil.Process(pid).net_connections("tcp")
        return any(socket.status == psutil.CONN_LISTEN and socket.laddr.port == port for socket in found)
    return False


async def stop_in_its_tracks(pid: int, *, within_seconds: float) -> None:
    """Send SIGSTOP and wait until the process has stopped, or is gone; raises LabError when it does neither."""

    async def stopped() -> bool | None:
        try:
            process = psutil.Process(pid)
            process.suspend()
            return True if process.status() == psutil.STATUS_STOPPED else None
        except psutil.NoSuchProcess:
            return True

    def failing(_: str) -> LabError:
        return LabError(f"process {pid} has not stopped {within_seconds:g} s after SIGSTOP")

    await until(stopped, within_seconds=within_seconds, failing=failing, every_seconds=0.001)


async def gone(family: Iterable[psutil.Process], *, within_seconds: float) -> None:
    """Wait until none of these processes exists; raises LabError naming those that still do."""
    waited = list(family)

    async def none_left() -> bool | None:
        waited[:] = [process for process in waited if _exists(process)]
        return None if waited else True

    def failing(_: str) -> LabError:
        numbers = ", ".join(str(process.pid) for process in waited)
        return LabError(f"processes still exist {within_seconds:g} s after they were killed: {numbers}")

    await until(none_left, within_seconds=within_seconds, failing=failing, every_seconds=0.005)


def _exists(process: psutil.Process) -> bool:
    with contextlib.suppress(psutil.NoSuchProcess):
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    return False
