"""The evidence files of a run as DuckDB sees them, each checked against the shape in which it is to be written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
import pyarrow.parquet as pq

from checker import schemas
from checker.errors import EvidenceError
from checker.quoting import literal, quote

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

FILES: Final[dict[str, pa.Schema]] = {
    "operations": schemas.OPERATIONS,
    "faults": schemas.FAULTS,
    "clocks": schemas.CLOCKS,
    "snapshots": schemas.SNAPSHOTS,
    "samples": schemas.SAMPLES,
    "effects": schemas.EFFECTS,
}


def load_files(folder: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Create a view of every file by its own name, and `changes`; raises EvidenceError on one that is not as described."""
    for name, schema in FILES.items():
        _load_file(folder / f"{name}.parquet", name, schema, connection)
    _load_changes(folder, connection)


def _load_file(path: Path, name: str, schema: pa.Schema, connection: duckdb.DuckDBPyConnection) -> None:
    if not path.is_file():
        connection.from_arrow(schema.empty_table()).create(name)
        return
    _check_columns(path, schema)
    columns = ", ".join(quote(column) for column in schema.names)
    connection.execute(f"CREATE VIEW {name} AS SELECT {columns} FROM read_parquet({literal(path)})")


def _check_columns(path: Path, schema: pa.Schema) -> None:
    try:
        there = pq.read_schema(path)
    except (OSError, ValueError) as error:
        raise EvidenceError(f"{path.name} cannot be read: {error}") from error
    for column in schema:
        if column.name not in there.names:
            raise EvidenceError(f"{path.name} has no column {column.name!r}")
        if there.field(column.name).type != column.type:
            found = there.field(column.name).type
            raise EvidenceError(f"{path.name}: column {column.name!r} is {found}, not {column.type}")


def _load_changes(folder: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Create `changes`: the head of every change of every recorded table, whether canonical or not."""
    files = sorted(path for path in (folder / "changes").glob("*.parquet") if path.is_file())
    if not files:
        empty = schemas.CHANGE_HEAD.insert(0, pa.field("target_table", pa.string())).empty_table()
        connection.from_arrow(empty).create("changes")
        return
    for path in files:
        _check_columns(path, schemas.CHANGE_HEAD)
    head = ", ".join(schemas.CHANGE_HEAD.names)
    connection.execute(
        f"CREATE VIEW changes AS SELECT parse_filename(filename, true) AS target_table, {head} "
        f"FROM read_parquet([{', '.join(map(literal, files))}], union_by_name = true, filename = true)"
    )
