"""What a trail and its companions wrote into a run folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow.parquet as pq

from checker.trail import Pace
from checker.trail.completeness import differences
from checker.trail.spool import frames

if TYPE_CHECKING:
    from pathlib import Path

NOTES: Final[dict[str, tuple[str, ...]]] = {"notes": ("id",)}
SEATS: Final[dict[str, tuple[str, ...]]] = {"seats": ("id",)}
BRISK: Final = Pace(poll_seconds=0.05)


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return read


def ids(folder: Path, name: str) -> list[str]:
    return [row["new_id"] for row in rows(folder, name)]


def incomplete(folder: Path, *tables: str) -> list[object]:
    with duckdb.connect() as connection:
        return [found for table in tables for found in differences(connection, folder, table, ("id",))]


def commits_spooled(folder: Path) -> int:
    return sum(frame.data[:1] == b"C" for frame in frames(folder / "spool" / "trail.bin"))
