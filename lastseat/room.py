"""Whether there is room for runs: a folder that may be written, on a disk that has space, told before anything starts."""

from __future__ import annotations

import shutil
import tempfile
from typing import TYPE_CHECKING, Final

from lastseat.account import server_account, temporary_folder
from lastseat.errors import LabError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

DISK_BYTES_MIN: Final = 2 * 1024**3
"""What a run may need: PostgreSQL's data and WAL, and the evidence."""
FOR_RUNS: Final = (
    "make room (lastseat prune removes old runs), or name a folder on a larger file system with --runs-dir"
)
FOR_SERVERS: Final = "make room, or set TMPDIR to a folder on a larger file system"


def refuse_without(runs: Path) -> None:
    """Raise UsageError where runs cannot be kept in that folder, LabError where there is too little space; makes nothing."""
    keeps(runs)
    temporary = temporary_folder(server_account())
    check_disk(temporary, where=temporary, remedy=FOR_SERVERS)


def keeps(runs: Path) -> Path:
    """Return the folder that is there already, of those on the way to `runs`; raises UsageError or LabError as above."""
    if runs.is_symlink() and not runs.exists():
        raise UsageError(
            f"{runs} is a link that leads nowhere.",
            remedy="Mend the link, or name another folder with --runs-dir.",
        )
    place = next(step for step in (runs.absolute(), *runs.absolute().parents) if step.exists())
    if not place.is_dir():
        raise UsageError(
            f"Runs cannot be kept in {runs}: {place} is no folder.", remedy="Name a folder with --runs-dir."
        )
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as refused:
        raise UsageError(
            f"Runs cannot be kept in {runs}: {place} cannot be written ({refused.strerror}).",
            remedy="Permit it to this user, or name another folder with --runs-dir.",
        ) from refused
    check_disk(place, where=runs, remedy=FOR_RUNS)
    return place


def is_there(runs: Path) -> bool:
    """Tell whether there is a folder of runs at all; raises UsageError where something else is in its place."""
    if runs.exists() and not runs.is_dir():
        raise UsageError(f"{runs} is no folder.", remedy="Name a folder with --runs-dir.")
    return runs.is_dir()


def check_disk(place: Path, *, where: Path, remedy: str) -> None:
    """Raise LabError, naming `where`, when the file system of `place` has less room than a run may need."""
    free = shutil.disk_usage(place).free
    if free < DISK_BYTES_MIN:
        raise LabError(
            f"only {free / 1024**3:.1f} GiB are free, and a run may need {DISK_BYTES_MIN / 1024**3:.0f}",
            where=str(where),
            remedy=remedy,
        )
