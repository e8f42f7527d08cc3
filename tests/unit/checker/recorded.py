"""The tables of the recorded frames, and folders made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from checker.schemas import CHANGE_HEAD
from checker.tables import Table
from checker.trail import TrailRecord, TrailStatus, to_parquet
from checker.trail.spool import Frame, Spool

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SEATS = [
    "id",
    "n",
    "s",
    "name",
    "ch",
    "ok",
    "at",
    "for_",
    "u",
    "raw",
    "body",
    "price",
    "f",
    "tags",
    "m",
    "ip",
    "twice",
]
TABLES = (
    Table(name="seats", schema="public", relation="seats", columns=tuple(SEATS), key=("id",)),
    Table(name="notes", schema="public", relation="notes", columns=("id", "v", "w"), key=("id",)),
    Table(name="whole", schema="public", relation="whole", columns=("id", "v", "w"), key=("id",)),
)


def decoded(
    folder: Path, frames: Iterable[Frame], *, base_snapshot: str | None = None, lost: int = 0
) -> TrailRecord:
    (folder / "spool").mkdir(exist_ok=True)
    (folder / "spool" / "trail.bin").unlink(missing_ok=True)
    with Spool(folder / "spool" / "trail.bin") as spool:
        for frame in frames:
            spool.append(*frame)
    record = TrailRecord(
        status=TrailStatus.DRAINED, tables=TABLES, base_snapshot=base_snapshot, frames=spool.frames + lost
    )
    return to_parquet(folder, record)


def write_base(folder: Path, table: str, columns: tuple[str, ...], *rows: tuple[str | None, ...]) -> None:
    fields = [*CHANGE_HEAD, *((f"new_{column}", pa.string()) for column in columns)]
    head = (0, 0, 0, None, None, "B")
    values = list(zip(*((*head, *row) for row in rows), strict=True)) if rows else [[]] * len(fields)
    (folder / "base").mkdir(exist_ok=True)
    schema = pa.schema(fields)
    arrays = [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)]
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), folder / "base" / f"{table}.parquet")


def write_state(
    folder: Path,
    table: str,
    columns: tuple[str, ...],
    *rows: tuple[str | None, ...],
    snapshot: str | None = None,
) -> None:
    schema = pa.schema([(f"new_{column}", pa.string()) for column in columns])
    if snapshot:
        schema = schema.with_metadata({"snapshot": snapshot})
    values = list(zip(*rows, strict=True)) if rows else [[]] * len(columns)
    arrays = [pa.array(column, pa.string()) for column in values]
    (folder / "state").mkdir(exist_ok=True)
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), folder / "state" / f"{table}.parquet")
