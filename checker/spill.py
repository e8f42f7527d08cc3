"""Where DuckDB puts what does not fit into memory: a folder that goes with the process, or by the next one if it was killed."""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX: Final = "lastseat-evidence-"
LOCK: Final = "lock"


@contextmanager
def spill() -> Iterator[str]:
    """Yield an empty folder, after those of killed processes were removed; raises OSError."""
    _clear()
    with tempfile.TemporaryDirectory(prefix=PREFIX) as folder:
        being_made = Path(folder) / f"{LOCK}.new"
        with being_made.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # By its name it is seen only once it is held.
            being_made.rename(being_made.with_name(LOCK))
            yield folder


def _clear() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            with (folder / LOCK).open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            # Somebody else's, or in use: the system ends a lock with whoever held it.
            continue
