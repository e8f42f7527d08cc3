"""What earlier labs left behind, which takes a killed supervisor: found without doubt, then removed."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psutil

from lastseat.account import temporary_places
from lastseat.borrowed import take_back
from lastseat.processes import MARKER, end_all, forget_shared_memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PREFIX = "lastseat-"
"""Every lab's private folder is named so, followed by the lab's marker, in a temporary folder."""
_CLOCK_SLACK_SECONDS = 2.0  # start times are computed from the boot time, which the system may adjust
_PAUSE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Leftover:
    """A lab whose supervisor has gone: its private folder, its marker, and those of its processes that still live."""

    folder: Path
    marker: str
    processes: tuple[int, ...]


def find_leftovers() -> list[Leftover]:
    """Return the labs of this user that were left behind; a lab whose lock is held is alive and not among them."""
    found: list[Leftover] = []
    for folder in _folders():
        with _lock(folder) as ours:
            if ours:
                found.append(_look(folder))
    return found


def remove_lab(folder: Path) -> bool:
    """Remove what is left of one lab, which is nothing where its supervisor could do its work."""
    return not folder.exists() or remove(_look(folder))


def remove(leftover: Leftover) -> bool:
    """End its processes, remove its proxies, shared memory and folder; False when something could not be ended."""
    with _lock(leftover.folder) as ours:
        if not ours:
            return False
        data = leftover.folder / "postgres" / "data"
        postmasters = _postmaster(data).intersection(_look(leftover.folder).processes)
        ended = end_all(lambda: set(_look(leftover.folder).processes), postmasters, _pause)
        gone = ended and take_back(leftover.folder, leftover.marker)
        if gone:
            forget_shared_memory(data)
            shutil.rmtree(leftover.folder, ignore_errors=True)
        return gone


def _folders() -> Iterator[Path]:
    for place in {place.resolve() for place in temporary_places()}:
        for folder in sorted(place.glob(f"{PREFIX}*")):
            with contextlib.suppress(OSError):
                about = folder.lstat()
                if about.st_uid == os.geteuid() and folder.is_dir() and not folder.is_symlink():
                    yield folder


@contextlib.contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Try to take a lab's lock; its supervisor holds it for as long as it lives."""
    try:
        lock = (folder / "lab.lock").open("r+")
    except OSError:  # being made, or being removed
        yield False
        return
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def _look(folder: Path) -> Leftover:
    marker = folder.name.removeprefix(PREFIX)
    try:
        since = float(json.loads((folder / "lab.json").read_text())["started"])
    except (OSError, ValueError, KeyError, TypeError):
        since = folder.stat().st_ctime
    living = (process for process in psutil.process_iter() if _belongs(process, marker, folder, since))
    return Leftover(folder, marker, tuple(process.pid for process in living))


def _belongs(process: psutil.Process, marker: str, folder: Path, since: float) -> bool:
    """Tell whether a process is of this lab: by its environment or working folder, and not older than the lab.

    PostgreSQL's backends overwrite their environment with a title; they are known by their working folder, whose name
    is as unique as the marker.
    """
    with contextlib.suppress(psutil.Error, OSError):
        if process.pid == os.getpid() or process.create_time() < since - _CLOCK_SLACK_SECONDS:
            return False
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARKER) == marker:
                return True
        working: str = process.cwd()
        return working == str(folder) or working.startswith(f"{folder}{os.sep}")
    return False


def _postmaster(data: Path) -> set[int]:
    try:
        return {int((data / "postmaster.pid").read_text().splitlines()[0])}
    except (OSError, ValueError, IndexError):
        return set()


def _pause() -> None:
    # Between two looks of end_all, which has the deadline: whether a process that is no child has ended cannot be awaited.
    time.sleep(_PAUSE_SECONDS)
