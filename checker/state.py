"""The state: the rows of the tables under test, in one snapshot, as text exactly as the trail prints them.

COPY prints with the types' output functions, as pgoutput does; a cast to text does not (it says `true` where the
output function says `t`, and strips the blanks of a CHAR).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from pyarrow import csv
from pyarrow import parquet as pq

from checker import session
from checker.quoting import quote
from checker.schemas import CHANGE_HEAD
from checker.tables import Table, describe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import asyncpg

#: Key under which a state file's own metadata keeps the pg_current_snapshot() that it was read in.
SNAPSHOT_KEY: Final = b"snapshot"
#: And under which the database's time at that moment, in µs since the epoch.
READ_KEY: Final = b"read_us"

_NOW_US: Final = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

# A file up to this size is parsed as one block; beyond it, a single row must fit in a block.
_BLOCK_BYTES_MAX: Final = 64 << 20


async def read(
    dsn: str, tables: Mapping[str, tuple[str, ...]], folder: Path, *, deadline_seconds: float
) -> str:
    """Write state/<table>.parquet for each table (name → key columns); returns the snapshot it was read in.

    All tables are read in one REPEATABLE READ snapshot. Raises UnknownTableError and TimeoutError.
    """
    connection = await session.connect(dsn, purpose="state")
    try:
        described = await describe(connection, tables)
        return await _read(
            connection, described, folder / "state", is_base=False, deadline_seconds=deadline_seconds
        )
    finally:
        await session.close(connection)


async def read_base(
    connection: asyncpg.Connection, tables: Sequence[Table], folder: Path, *, deadline_seconds: float
) -> str:
    """Write base/<table>.parquet: what stands in the tables now, as changes with the action B at LSN 0."""
    return await _read(connection, tables, folder / "base", is_base=True, deadline_seconds=deadline_seconds)


async def _read(
    connection: asyncpg.Connection,
    tables: Sequence[Table],
    into: Path,
    *,
    is_base: bool,
    deadline_seconds: float,
) -> str:
    await asyncio.to_thread(into.mkdir, parents=True, exist_ok=True)
    async with (
        asyncio.timeout(deadline_seconds),
        connection.transaction(isolation="repeatable_read", readonly=True),
    ):
        snapshot = str(await connection.fetchval("SELECT pg_current_snapshot()::text"))
        read_us = int(await connection.fetchval(_NOW_US))
        for table in tables:
            await _copy(connection, table, into / f"{table.name}.csv")
    for table in tables:
        await asyncio.to_thread(_convert, table, into, snapshot, read_us, is_base=is_base)
    return snapshot


async def _copy(connection: asyncpg.Connection, table: Table, path: Path) -> None:
    columns = ", ".join(quote(column) for column in table.columns)
    file = await asyncio.to_thread(path.open, "wb")
    with file:

        async def write(chunk: bytes) -> None:
            file.write(chunk)

        # Only quoted text is a value: an empty field without quotes is NULL.
        await connection.copy_from_query(
            f"SELECT {columns} FROM {table.quoted}",  # noqa: S608 - quoted identifiers from the catalogue
            output=write,
            format="csv",
            force_quote=True,
        )


def _convert(table: Table, into: Path, snapshot: str, read_us: int, *, is_base: bool) -> None:
    """Turn one table's CSV into Parquet, a block at a time, and remove it."""
    source = into / f"{table.name}.csv"
    fields = pa.schema([(f"new_{column}", pa.string()) for column in table.columns])
    schema = pa.schema([*CHANGE_HEAD, *fields]) if is_base else fields
    schema = schema.with_metadata({SNAPSHOT_KEY: snapshot.encode(), READ_KEY: str(read_us).encode()})
    with pq.ParquetWriter(into / f"{table.name}.parquet", schema) as writer:
        position = 0
        if size := source.stat().st_size:
            for batch in _batches(source, fields, size):
                arrays = batch.columns
                if is_base:
                    arrays = [*_base_head(position, len(batch)), *arrays]
                writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
                position += len(batch)
    source.unlink()


def _batches(source: Path, fields: pa.Schema, size: int) -> csv.CSVStreamingReader:
    return csv.open_csv(
        source,
        read_options=csv.ReadOptions(column_names=fields.names, block_size=min(size + 1, _BLOCK_BYTES_MAX)),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            column_types=fields, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )


def _base_head(position: int, count: int) -> list[pa.Array]:
    values = {
        "commit_lsn": pa.repeat(pa.scalar(0, pa.uint64()), count),
        "position": pa.array(range(position, position + count), pa.int64()),
        "change_lsn": pa.repeat(pa.scalar(0, pa.uint64()), count),
        "action": pa.repeat(pa.scalar("B", pa.string()), count),
    }
    return [values.get(field.name, pa.nulls(count, field.type)) for field in CHANGE_HEAD]
