"""Who is running on this machine, as far as ending a lab needs to know; standard library only.

Linux is read from /proc; elsewhere `ps` answers the same questions, less exactly.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
from pathlib import Path

MARKER = "LASTSEAT_LAB"
"""The environment variable every process of a lab carries; its value is the lab's own random name."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_IPC_RMID = 0
_SHARED_MEMORY_LINE = 6  # of postmaster.pid: "key id" of the System V segment (src/include/utils/pidfile.h)
_PROC = Path("/proc")
_LIBC = ctypes.CDLL(None, use_errno=True)

LINUX = sys.platform.startswith("linux")


def adopt_orphans() -> None:
    """Make this process the parent of every descendant whose own parent dies (Linux only)."""
    if LINUX:
        _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this process a signal when its parent thread ends (Linux only).

    To be called in the child, after the change of user (which clears it) and before exec.
    """
    if LINUX:
        _LIBC.prctl(_PR_SET_PDEATHSIG, int(signal_number), 0, 0, 0)


def parents() -> dict[int, int]:
    """Return pid → parent pid of every process that is not a zombie."""
    return _parents_from_proc() if LINUX else _parents_from_ps()


def _parents_from_proc() -> dict[int, int]:
    found: dict[int, int] = {}
    for entry in os.listdir(_PROC):  # noqa: PTH208 - ten times a second while ending; Path objects double its cost
        if entry.isdigit() and (fields := _stat(int(entry))) and fields[0] not in "ZX":
            found[int(entry)] = int(fields[1])
    return found


def _parents_from_ps() -> dict[int, int]:
    listing = subprocess.run(
        ["/bin/ps", "-axo", "pid=,ppid=,stat="], capture_output=True, text=True, check=False, timeout=5
    )
    rows = (line.split() for line in listing.stdout.splitlines())
    return {int(row[0]): int(row[1]) for row in rows if not row[2].startswith("Z")}


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the name: state, parent, …; empty when it is gone."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def started(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; None when it is gone or this is not Linux."""
    fields = _stat(pid) if LINUX else []
    return int(fields[19]) if fields else None


def state(pid: int) -> str:
    """Return the one-letter state of a process (R, S, D, T, Z …), or an empty string when it is gone."""
    fields = _stat(pid) if LINUX else []
    return fields[0] if fields else ""


def descendants(pid: int) -> set[int]:
    """Return every living process below one, however deep."""
    children: dict[int, list[int]] = {}
    for child, parent in parents().items():
        children.setdefault(parent, []).append(child)
    found: set[int] = set()
    todo = [pid]
    while todo:
        for child in children.get(todo.pop(), ()):
            if child not in found:
                found.add(child)
                todo.append(child)
    return found


def belongs(pid: int, *, marker: str, folder: Path) -> bool:
    """Tell whether a process is of the lab so named: by its environment, or by working inside its folder.

    PostgreSQL's backends and other servers overwrite their environment with a process title; they are known by
    their working folder, whose name is as unique as the marker.
    """
    with contextlib.suppress(OSError):
        if f"{MARKER}={marker}".encode() in (_PROC / str(pid) / "environ").read_bytes().split(b"\0"):
            return True
    with contextlib.suppress(OSError):
        return (_PROC / str(pid) / "cwd").readlink().is_relative_to(folder)
    return False


def send(pid: int, signal_number: int) -> bool:
    """Send a signal; False when the process is gone already or is not ours to signal."""
    try:
        os.kill(pid, signal_number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def forget_shared_memory(data_folder: Path) -> None:
    """Remove the System V segment that a killed PostgreSQL left behind (its id stands in postmaster.pid)."""
    try:
        lines = (data_folder / "postmaster.pid").read_text().splitlines()
        segment = int(lines[_SHARED_MEMORY_LINE].split()[1])
    except (OSError, IndexError, ValueError):
        return
    _LIBC.shmctl(segment, _IPC_RMID, None)
