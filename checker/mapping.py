"""Sees a target's own tables as the canonical ones: `trail.<name>`, `commits.<name>` and `state.<name>`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pyarrow.parquet as pq

from checker.canonical import TABLES
from checker.quoting import literal, quote

if TYPE_CHECKING:
    from pathlib import Path

    from checker.brief import CanonicalTable

_HEAD = {
    "commit_lsn": "UBIGINT",
    "position": "BIGINT",
    "change_lsn": "UBIGINT",
    "xid": "UINTEGER",
    "commit_us": "BIGINT",
    "action": "VARCHAR",
}
_PREFIX = "new_"
_GONE = "('D', 'T')"


class EvidenceError(Exception):
    """The evidence cannot be read as described; says which file, table or column is wrong, and how."""


class Mapping:
    """One canonical table seen through a target's; which of its parts the folder holds, and its tables."""

    def __init__(self, folder: Path, name: str, table: CanonicalTable) -> None:
        """Check the names; raises EvidenceError for a table or column that is not canonical, or a lacking key column."""
        if name not in TABLES:
            raise EvidenceError(f"tables.{name}: no such canonical table; there are {', '.join(TABLES)}")
        for column in table.columns:
            if column not in TABLES[name]:
                raise EvidenceError(
                    f"tables.{name}.columns.{column}: no such canonical column; there are {', '.join(TABLES[name])}"
                )
        self.name = name
        self.table = table
        parts = {part: folder / part / f"{table.table}.parquet" for part in ("base", "changes", "state")}
        self.files = {part: path for part, path in parts.items() if path.is_file()}
        for part, path in self.files.items():
            self._check_key(part, path)

    def _check_key(self, part: str, path: Path) -> None:
        there = set(own_columns(path))
        for column in self.table.key:
            if column not in there:
                raise EvidenceError(f"tables.{self.name}.key: {part}/{path.name} has no column {column!r}")

    def create(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Create its three tables; raises EvidenceError naming the column whose expression does not work."""
        try:
            connection.execute(f"CREATE TABLE trail.{self.name} AS {self._trail()}")
            connection.execute(f"CREATE TABLE commits.{self.name} AS {self._commits()}")
            connection.execute(f"CREATE TABLE state.{self.name} AS {self._state()}")
        except duckdb.Error as error:
            self._blame(connection)
            raise EvidenceError(f"tables.{self.name}: {error}") from error

    def _blame(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Run each expression by itself, to raise an error that names the column it comes from."""
        for part in self.files:
            source = self._source(part)
            expressions = {"where": f"CAST(({self.table.where}) AS BOOLEAN)"}
            expressions |= {f"columns.{column}": sql for column, sql in self._columns().items()}
            for where, expression in expressions.items():
                try:
                    connection.execute(f"SELECT count({expression}) FROM ({source})")
                except duckdb.Error as error:
                    raise EvidenceError(f"tables.{self.name}.{where} over {part}/: {error}") from error

    def _columns(self) -> dict[str, str]:
        """Return the canonical columns as typed expressions; one the target lacks is NULL."""
        return {
            column: f"CAST(({self.table.columns.get(column, 'NULL')}) AS {kind})"
            for column, kind in TABLES[self.name].items()
        }

    def _source(self, part: str) -> str:
        """Select the target's own columns by their own names, and the head of a change by names no target uses."""
        path = self.files[part]
        own = [f"{quote(_PREFIX + column)} AS {quote(column)}" for column in own_columns(path)]
        head = [] if part == "state" else [f"{name} AS {quote('lastseat:' + name)}" for name in _HEAD]
        return f"SELECT {', '.join(own + head)} FROM read_parquet({literal(path)})"

    def _row_key(self) -> str:
        return "concat_ws(chr(31), " + ", ".join(quote(column) for column in self.table.key) + ")"

    def _trail(self) -> str:
        selects = []
        for part in ("base", "changes"):
            if part not in self.files:
                continue
            head = {name: quote("lastseat:" + name) for name in _HEAD}
            if part == "base":
                head |= {
                    "commit_lsn": "0",
                    "position": "0",
                    "change_lsn": "0",
                    "xid": "NULL",
                    "commit_us": "NULL",
                }
            present = f"({head['action']} NOT IN {_GONE} AND coalesce(CAST(({self.table.where}) AS BOOLEAN), false))"
            columns = [f"CAST({sql} AS {_HEAD[name]}) AS {name}" for name, sql in head.items()]
            columns += [f"{self._row_key()} AS row_key", f"{present} AS present"]
            # A row that is gone, or is not meant, has no values: only its key is known.
            columns += [
                f"CASE WHEN {present} THEN {sql} END AS {name}" for name, sql in self._columns().items()
            ]
            selects.append(f"SELECT {', '.join(columns)} FROM ({self._source(part)})")
        return " UNION ALL ".join(selects) or self._empty(head=True)

    def _commits(self) -> str:
        """Keep the last image per key and transaction; a truncation ends every row that had been seen before it."""
        columns = ", ".join(quote(column) for column in TABLES[self.name])
        return f"""
            WITH emptied AS (SELECT * FROM trail.{self.name} WHERE action = 'T'),
            images AS (
                SELECT * FROM trail.{self.name} WHERE action <> 'T'
                UNION ALL BY NAME
                SELECT e.* REPLACE (k.row_key AS row_key) FROM emptied e JOIN (
                    SELECT row_key, min((commit_lsn, position)) AS since FROM trail.{self.name}
                    WHERE action <> 'T' GROUP BY row_key
                ) k ON k.since < (e.commit_lsn, e.position)
            )
            SELECT commit_lsn, change_lsn, xid, commit_us, action, row_key, present, {columns} FROM images
            QUALIFY row_number() OVER (PARTITION BY row_key, commit_lsn ORDER BY position DESC) = 1
        """

    def _state(self) -> str:
        if "state" not in self.files:
            return self._empty(head=False)
        columns = [f"{self._row_key()} AS row_key"]
        columns += [f"{sql} AS {name}" for name, sql in self._columns().items()]
        where = f"coalesce(CAST(({self.table.where}) AS BOOLEAN), false)"
        return f"SELECT {', '.join(columns)} FROM ({self._source('state')}) WHERE {where}"

    def _empty(self, *, head: bool) -> str:
        kinds = _HEAD | {"row_key": "VARCHAR", "present": "BOOLEAN"} if head else {"row_key": "VARCHAR"}
        kinds = kinds | TABLES[self.name]
        return (
            "SELECT "
            + ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in kinds.items())
            + " LIMIT 0"
        )


def create_absent(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Create a canonical table that the target does not have, empty: what needs it is not offered, and says so."""
    columns = {"row_key": "VARCHAR"} | TABLES[name]
    head = _HEAD | {"present": "BOOLEAN"} | columns
    for schema, kinds in (("trail", head), ("commits", head), ("state", columns)):
        described = ", ".join(f"{column} {kind}" for column, kind in kinds.items())
        connection.execute(f"CREATE TABLE {schema}.{name} ({described})")


def own_columns(path: Path) -> list[str]:
    """Return the target's own columns in an evidence file, without their prefix; raises EvidenceError if it is no Parquet."""
    try:
        names: list[str] = pq.read_schema(path).names
    except (OSError, ValueError) as error:
        raise EvidenceError(f"{path.parent.name}/{path.name} cannot be read: {error}") from error
    return [name.removeprefix(_PREFIX) for name in names if name.startswith(_PREFIX)]
