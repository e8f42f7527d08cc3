"""Who runs on this machine, and how a lab's processes are ended; standard library only, for the supervisor.

Linux is read from /proc; elsewhere `ps` answers the same questions, less exactly.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MARKER = "LASTSEAT_LAB"
"""The environment variable every process of a lab carries; its value is the lab's own random name."""

GENTLE_SECONDS = 1.2
"""How long PostgreSQL may take over its immediate shutdown before it is killed too."""
FORCED_SECONDS = 0.6
"""How long killed processes may take to be gone: with the above, less than the two seconds that are promised."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_IPC_RMID = 0
_SHARED_MEMORY_LINE = 6  # of postmaster.pid: "key id" of the System V segment (src/include/utils/pidfile.h)
_KEY_TRIES = 8
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


def send(pid: int, signal_number: int) -> bool:
    """Send a signal; False when the process is gone already or is not ours to signal."""
    try:
        os.kill(pid, signal_number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def forget_shared_memory(data_folder: Path) -> None:
    """Remove the System V segments that a killed PostgreSQL, or initdb's, left behind; none that anybody uses."""
    noted = _noted_segment(data_folder)
    if LINUX:
        orphans = {
            segment for segment, key in _unattached() if segment == noted or _made_for(data_folder, key)
        }
    else:
        orphans = {noted} if noted is not None else set()
    for segment in orphans:
        _LIBC.shmctl(segment, _IPC_RMID, None)


def _noted_segment(data_folder: Path) -> int | None:
    try:
        lines = (data_folder / "postmaster.pid").read_text().splitlines()
        return int(lines[_SHARED_MEMORY_LINE].split()[1])
    except (OSError, IndexError, ValueError):
        return None


def _made_for(data_folder: Path, key: int) -> bool:
    """Tell whether a segment was made for a data folder: its key is the folder's inode, or the next one free.

    Needed for a server killed between making the segment and noting it (PGSharedMemoryCreate in sysv_shmem.c).
    """
    try:
        inode = data_folder.stat().st_ino
    except OSError:
        return False
    return (key - inode) % 2**32 < _KEY_TRIES


def _unattached() -> Iterator[tuple[int, int]]:
    """Yield (id, key) of every segment that no process is attached to."""
    with contextlib.suppress(OSError):
        for line in (_PROC / "sysvipc" / "shm").read_text().splitlines()[1:]:
            key, segment, _, _, _, _, attached, *_ = line.split()
            if attached == "0":
                yield int(segment), int(key)


def end_all(everyone: Callable[[], set[int]], postmasters: set[int], pause: Callable[[], None]) -> bool:
    """End processes, stopped ones too: PostgreSQL by its immediate shutdown, the rest by SIGKILL; False if some stay.

    `everyone` is asked again and again, since PostgreSQL's processes outlive a killed postmaster and servers may be
    forking; `pause` waits for a moment and reaps.
    """
    for pid in postmasters:
        send(pid, signal.SIGQUIT)
        send(pid, signal.SIGCONT)
    deadline = time.monotonic() + GENTLE_SECONDS
    while (left := everyone()) and time.monotonic() < deadline:
        alive = postmasters & left
        _end(left, spared=alive.union(*(descendants(pid) for pid in alive)))
        pause()
    deadline = time.monotonic() + FORCED_SECONDS
    while (left := everyone()) and time.monotonic() < deadline:
        _end(left, spared=set())
        pause()
    return not left


def _end(left: set[int], *, spared: set[int]) -> None:
    for pid in left:
        if pid not in spared:
            send(pid, signal.SIGKILL)
        send(pid, signal.SIGCONT)  # a stopped backend would never hear its postmaster
