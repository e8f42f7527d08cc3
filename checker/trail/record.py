"""What is known about a trail besides its changes: trail.json in the run folder."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

import msgspec

from checker.brief import SCHEMA_VERSION
from checker.tables import Table

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "trail.json"


class TrailStatus(StrEnum):
    """How far the trail can be believed: only a drained one holds every change up to its marker."""

    NONE = "none"  # logical decoding was not possible; see the reason
    OPEN = "open"  # being read
    DRAINED = "drained"
    BROKEN = "broken"  # reading stopped early; see the reason


class TrailRecord(msgspec.Struct, frozen=True, kw_only=True):
    """The trail's own account of itself; LSNs as integers, counts of what the Parquet files hold."""

    status: TrailStatus
    reason: str | None = None
    tables: tuple[Table, ...] = ()
    slot: str | None = None  # and the publication of the same name
    temporary: bool = False
    started_at_lsn: int | None = None
    base_snapshot: str | None = None  # pg_current_snapshot() of base/
    drained_to_lsn: int | None = None  # the marker's commit
    reconnects: int = 0
    frames: int = 0
    transactions: int = 0
    changes: dict[str, int] = {}
    repeated: int = 0  # changes the slot gave twice, counted once
    in_base: int = 0  # changes that base/ already contains, left out
    left_behind: tuple[str, ...] = ()  # slots and publications that could not be dropped
    schema_version: int = SCHEMA_VERSION


def write_record(folder: Path, record: TrailRecord) -> None:
    """Write trail.json into the run folder."""
    (folder / FILE).write_bytes(msgspec.json.format(msgspec.json.encode(record), indent=2))


def read_record(folder: Path) -> TrailRecord:
    """Read trail.json; a folder without one has a record that says so."""
    try:
        return msgspec.json.decode((folder / FILE).read_bytes(), type=TrailRecord)
    except FileNotFoundError:
        return TrailRecord(status=TrailStatus.NONE, reason="no trail was recorded in this run")
