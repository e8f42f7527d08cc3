"""The evidence of one run, loaded into DuckDB under the names in which invariants are written."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from checker import schemas
from checker.canonical import TABLES
from checker.mapping import EvidenceError, Mapping, create_absent
from checker.quoting import literal, quote
from checker.state import READ_KEY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from checker.brief import Brief
    from checker.verdict import Scalar

__all__ = ["DERIVED", "FILES", "Evidence", "EvidenceError", "open_evidence"]

THREADS: Final = 2
MEMORY_LIMIT: Final = "1GB"
SPILL_LIMIT: Final = "8GB"
DERIVED: Final = Path(__file__).parent / "derived"
FILES: Final[dict[str, pa.Schema]] = {
    "operations": schemas.OPERATIONS,
    "faults": schemas.FAULTS,
    "clocks": schemas.CLOCKS,
    "snapshots": schemas.SNAPSHOTS,
    "samples": schemas.SAMPLES,
    "effects": schemas.EFFECTS,
}


class Evidence:
    """The tables of one run; `lacks` says which of them the run or its target does not have, and why."""

    def __init__(
        self,
        folder: Path,
        brief: Brief,
        connection: duckdb.DuckDBPyConnection,
        mappings: Sequence[Mapping],
    ) -> None:
        self.folder = folder
        self.brief = brief
        self.connection = connection
        self._mappings = {mapping.name: mapping for mapping in mappings}

    def rows(self, sql: str, *parameters: Scalar) -> list[tuple[Any, ...]]:
        """Return what a query selects; raises duckdb.Error."""
        return self.connection.execute(sql, parameters).fetchall()

    def row(self, sql: str, *parameters: Scalar) -> tuple[Any, ...]:
        """Return the only row of a query."""
        (row,) = self.rows(sql, *parameters)
        return row

    def records(self, sql: str, *parameters: Scalar) -> list[dict[str, Any]]:
        """Return what a query selects, each row by column name."""
        result = self.connection.execute(sql, parameters)
        names = [column[0] for column in result.description or ()]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def lacks(self, need: str) -> str | None:
        """Say why something an invariant needs is not there, or None if it is.

        A need is an evidence file (`operations`), a canonical table (`holds`), one of its columns
        (`resources.occupied`), or `trail` or `state`: the changes, or the rows at rest, of every table the target has.
        """
        if need in FILES:
            return None if (self.folder / f"{need}.parquet").is_file() else f"{need}.parquet was not recorded"
        if need in ("trail", "state"):
            part = "changes" if need == "trail" else "state"
            missing = sorted({m.table.table for m in self._mappings.values() if part not in m.files})
            return f"no {need} was recorded of {', '.join(missing)}" if missing else None
        return self._lacks_table(*need.partition(".")[::2])

    def _lacks_table(self, name: str, column: str) -> str | None:
        mapping = self._mappings.get(name)
        if mapping is None:
            return f"not offered: the target has no {name}"
        if column and column not in mapping.table.columns:
            return f"not offered: the target's {name} have no {column}"
        if not mapping.files.keys() & {"changes", "state"}:
            return f"{name}: neither changes/{mapping.table.table}.parquet nor state/ was recorded"
        return None


@contextmanager
def open_evidence(folder: Path, brief: Brief) -> Iterator[Evidence]:
    """Load a run folder; raises EvidenceError on a file, table or column that is not as described.

    What is larger than the memory limit spills into a temporary folder; nothing is written to the run folder, and
    no query of an invariant can read a file outside it.
    """
    with tempfile.TemporaryDirectory(prefix="lastseat-evidence-") as spill, _connect(spill) as connection:
        try:
            mappings = _load(folder.resolve(), brief, connection)
        except duckdb.Error as error:
            raise EvidenceError(f"{folder}: {error}") from error
        yield Evidence(folder.resolve(), brief, connection, mappings)


def _connect(spill: str) -> duckdb.DuckDBPyConnection:
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": THREADS,
        "memory_limit": MEMORY_LIMIT,
        "temp_directory": spill,
        "max_temp_directory_size": SPILL_LIMIT,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    return duckdb.connect(":memory:", config=config)


def _load(folder: Path, brief: Brief, connection: duckdb.DuckDBPyConnection) -> list[Mapping]:
    mappings = [Mapping(folder, name, table) for name, table in brief.tables.items()]
    connection.execute("SET TimeZone = 'UTC'")
    for schema in ("trail", "commits", "state"):
        connection.execute(f"CREATE SCHEMA {schema}")
    # PostgreSQL prints what ISO 8601 and DuckDB read; `infinity` becomes NULL.
    connection.execute("CREATE MACRO instant_us(printed) AS epoch_us(CAST(printed AS TIMESTAMPTZ))")
    for name, schema in FILES.items():
        _load_file(folder / f"{name}.parquet", name, schema, connection)
    _load_changes(folder, connection)
    _load_rest(folder, connection)
    _restrict(folder, connection)
    for mapping in mappings:
        mapping.create(connection)
    for name in TABLES.keys() - brief.tables.keys():
        create_absent(connection, name)
    _load_brief(brief, connection)
    for step in sorted(DERIVED.glob("*.sql")):
        connection.execute(step.read_text())
    return mappings


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
    selects = []
    for path in sorted((folder / "changes").glob("*.parquet")):
        _check_columns(path, schemas.CHANGE_HEAD)
        head = ", ".join(schemas.CHANGE_HEAD.names)
        selects.append(
            f"SELECT {literal(path.stem)} AS target_table, {head} FROM read_parquet({literal(path)})"
        )
    if selects:
        connection.execute(f"CREATE VIEW changes AS {' UNION ALL '.join(selects)}")
        return
    empty = schemas.CHANGE_HEAD.insert(0, pa.field("target_table", pa.string())).empty_table()
    connection.from_arrow(empty).create("changes")


def _load_rest(folder: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Create `at_rest`: when the state was read, by the database's clock; where that was not kept, its last commit."""
    kept = [pq.read_schema(path).metadata or {} for path in sorted((folder / "state").glob("*.parquet"))]
    read_us = min((int(metadata[READ_KEY]) for metadata in kept if READ_KEY in metadata), default=None)
    connection.execute(
        "CREATE TABLE at_rest AS SELECT coalesce(CAST(? AS BIGINT), (SELECT max(commit_us) FROM changes)) AS read_us",
        [read_us],
    )


def _restrict(folder: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Let queries read the run folder and nothing else: a folder may have come with an email."""
    connection.execute(f"SET allowed_directories = [{literal(str(folder) + '/')}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _load_brief(brief: Brief, connection: duckdb.DuckDBPyConnection) -> None:
    """Create what invariants may know of the brief: `refusals` by meaning, and what the target has."""
    connection.execute("CREATE TABLE refusals (meaning VARCHAR, code VARCHAR)")
    for meaning, codes in sorted(brief.refusals.items()):
        for code in codes:
            connection.execute("INSERT INTO refusals VALUES (?, ?)", [meaning, code])
    has = ", ".join(f"{'true' if name in brief.tables else 'false'} AS {name}" for name in TABLES)
    answers = "true" if "idempotency_answers" in brief.tables else "false"
    connection.execute(f"CREATE TABLE offered AS SELECT {has}, {answers} AS answers")
