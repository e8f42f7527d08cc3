"""What the lab's own servers said during one run: they write on through a whole season, into its first run's folder."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from reports.printable import clean

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SERVERS: Final = ("postgres.log", "valkey.log", "toxiproxy.log")
BYTES_MAX: Final = 32 * 1024**2
"""What is kept of one server and run: more than that is one line over and over."""


@contextmanager
def parts_kept(first: Path, folder: Path) -> Iterator[None]:
    """Copy what the servers say while the block runs from the logs of the first run into those of this one, redacted.

    In the first run's own folder everything stands already. Servers that were given by URL keep their logs to themselves.
    """
    if first.resolve() == folder.resolve():
        yield
        return
    began = {name: _size(first / "logs" / name) for name in SERVERS}
    try:
        yield
    finally:
        for name, offset in began.items():
            if (first / "logs" / name).is_file():
                part = _part(first / "logs" / name, offset)
                (folder / "logs" / name).write_text(part, encoding="utf-8")


def _size(log: Path) -> int:
    try:
        return log.stat().st_size
    except FileNotFoundError:
        return 0


def _part(log: Path, offset: int) -> str:
    with log.open("rb") as opened:
        opened.seek(offset)
        said = opened.read(BYTES_MAX)
        left_out = log.stat().st_size - opened.tell()
    more = f"… and {left_out:,} bytes more in {log}\n" if left_out > 0 else ""
    return clean(said.decode(errors="replace")) + more
