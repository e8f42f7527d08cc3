"""Where things that are costly to get are kept between runs, and how they get there whole or not at all."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lastseat.errors import LabError
from lastseat.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_PARTIAL = ".partial-"
_LOCK_POLL_SECONDS = 0.1


def cache_folder() -> Path:
    """Return the cache's place: $LASTSEAT_CACHE, else the user's, else for root one that every user can reach.

    Servers of a lab started by root run as an unprivileged user, and root's home is usually closed to it: hence
    /var/cache/lastseat and not /root/.cache.
    """
    if chosen := os.environ.get("LASTSEAT_CACHE"):
        return Path(chosen)
    mac = sys.platform == "darwin"
    if os.geteuid() == 0:
        return Path("/Library/Caches/lastseat" if mac else "/var/cache/lastseat")
    if mac:
        return Path.home() / "Library" / "Caches" / "lastseat"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lastseat"


@contextlib.asynccontextmanager
async def filling(place: Path, *, within_seconds: float) -> AsyncIterator[Path | None]:
    """Give a partial folder to fill, and rename it to `place` at the end; None when another run filled it meanwhile.

    Two runs never fill at once, and what an interrupted one left is removed. Raises LabError when the other run holds
    the lock for too long, or the cache cannot be written.
    """
    if place.exists():
        yield None
        return
    if not place.parent.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.parent.chmod(0o755)  # whatever the umask: servers run as another user
    with (place.parent / f".{place.name}.lock").open("w") as lock:
        await _take(lock.fileno(), place, within_seconds)
        if place.exists():
            yield None
            return
        for abandoned in place.parent.glob(f"{_PARTIAL}{place.name}-*"):
            shutil.rmtree(abandoned, ignore_errors=True)
        partial = Path(tempfile.mkdtemp(prefix=f"{_PARTIAL}{place.name}-", dir=place.parent))
        try:
            partial.chmod(0o755)
            yield partial
            partial.rename(place)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


async def _take(lock: int, place: Path, within_seconds: float) -> None:
    async def attempt() -> bool:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # raises BlockingIOError, an OSError: not yet
        return True

    def failing(_: str) -> LabError:
        return LabError(
            f"another run has been filling the cache for more than {within_seconds:g} s",
            where=str(place),
            remedy="wait for it, or end it",
        )

    await until(attempt, within_seconds=within_seconds, failing=failing, every_seconds=_LOCK_POLL_SECONDS)
