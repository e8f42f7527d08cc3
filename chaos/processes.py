"""Stopping and resuming a process with all below it, and counting what is connected to them."""

from __future__ import annotations

import asyncio
import contextlib

import psutil

from chaos.parts import PartError

STOP_SECONDS = 2.0  # a process in an uninterruptible call stops when that returns
_AGAIN_SECONDS = 0.002


async def freeze(pid: int) -> None:
    """Stop the head first, so that it starts nobody, then those below it until a scan finds no new one.

    Stopping only a postmaster leaves its sessions running. Raises PartError where one does not stop.
    """
    try:
        async with asyncio.timeout(STOP_SECONDS):
            while running := _running(pid):
                for process in running:
                    with contextlib.suppress(psutil.NoSuchProcess):
                        process.suspend()
                await asyncio.sleep(_AGAIN_SECONDS)
    except TimeoutError:
        raise PartError(f"not all below process {pid} stopped within {STOP_SECONDS:g} s") from None
    except psutil.Error as error:
        raise PartError(f"process {pid} could not be stopped: {error}") from error


def thaw(pid: int) -> None:
    """Resume a process and all below it, the head last; nothing happens to those that run."""
    for process in reversed(family(pid)):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.resume()


def family(pid: int) -> list[psutil.Process]:
    """Return a process and all below it, itself first; empty when it is gone."""
    with contextlib.suppress(psutil.NoSuchProcess):
        head = psutil.Process(pid)
        return [head, *head.children(recursive=True)]
    return []


def stopped(pid: int) -> tuple[int, int]:
    """Count those of a family that are stopped, and all of it."""
    states = [state for process in family(pid) if (state := _state(process))]
    return states.count(psutil.STATUS_STOPPED), len(states)


def open_sessions(pid: int) -> str:
    """Tell how many TCP connections a process holds itself: empty for none, or where they may not be seen.

    Of those below it only the number is of interest: looking at the sockets of a hundred backends takes a second.
    """
    with contextlib.suppress(psutil.Error):
        found = psutil.Process(pid).net_connections(kind="tcp")
        count = sum(each.status == psutil.CONN_ESTABLISHED for each in found)
        return f", {count} sessions open" if count else ""
    return ""


def _running(pid: int) -> list[psutil.Process]:
    """Return the head alone while it runs, then whoever below it does."""
    everyone = family(pid)
    if not everyone:
        raise PartError(f"process {pid} is gone")
    if _runs(everyone[0]):
        return everyone[:1]
    return [process for process in everyone if _runs(process)]


def _runs(process: psutil.Process) -> bool:
    return _state(process) not in {"", psutil.STATUS_STOPPED}


def _state(process: psutil.Process) -> str:
    """Tell the state; empty when it is gone or only waits to be reaped."""
    with contextlib.suppress(psutil.NoSuchProcess):
        state = str(process.status())
        return "" if state == psutil.STATUS_ZOMBIE else state
    return ""
