"""Sees a target's own tables as the canonical ones: `trail.<name>`, `commits.<name>` and `state.<name>`."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

import duckdb

from checker.canonical import TABLES
from checker.errors import EvidenceError, NoRoomError, refused
from checker.footer import PREFIX, read_footer
from checker.quoting import literal, quote
from checker.recipes import VIEW, Recipe

if TYPE_CHECKING:
    from collections.abc import Iterator
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
_FOLDED = "commit_lsn, change_lsn, xid, commit_us, action, row_key, present"
_OURS = "lastseat:"
_GONE = "('D', 'T')"
# Most transactions change one row of a table, so only those that change several can have changed one twice.
_TWICE = """
SELECT 1 FROM trail.{name} SEMI JOIN (SELECT commit_lsn FROM trail.{name} GROUP BY commit_lsn HAVING count(*) > 1) s USING (commit_lsn)
GROUP BY row_key, commit_lsn HAVING count(*) > 1 LIMIT 1
"""
# Every image of a row, and the end of each that a truncation came after.
_ENDED = """
(
    SELECT * FROM trail.{name} WHERE action <> 'T'
    UNION ALL BY NAME
    SELECT e.* REPLACE (k.row_key AS row_key) FROM trail.{name} e JOIN (
        SELECT row_key, min((commit_lsn, position)) AS since FROM trail.{name} WHERE action <> 'T' GROUP BY row_key
    ) k ON k.since < (e.commit_lsn, e.position)
    WHERE e.action = 'T'
)
"""


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
        self._footers = {part: read_footer(path) for part, path in self.files.items()}
        for part, footer in self._footers.items():
            for column in table.key:
                if column not in footer.columns:
                    path = self.files[part]
                    raise EvidenceError(f"tables.{name}.key: {part}/{path.name} has no column {column!r}")

    def recipes(self) -> Iterator[Recipe]:
        """Return how its three tables are made; making one raises EvidenceError naming the column that does not work."""
        yield Recipe(f"trail.{self.name}", self._create_trail)
        yield Recipe(f"commits.{self.name}", self._create_commits, frozenset({f"trail.{self.name}"}))
        yield Recipe(f"state.{self.name}", self._create_state)

    def check(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Raise EvidenceError for an expression over a column that is not there, though nobody may ever read it.

        A value that does not convert is only met by who reads it.
        """
        for columns in {footer.columns for footer in self._footers.values()}:
            plain = {"true", *filter(_is_plain, columns)}
            odd = [sql for sql in self._expressions().values() if sql not in plain]
            if not odd:
                continue
            own = ", ".join(f"CAST(NULL AS VARCHAR) AS {quote(column)}" for column in columns)
            asked = ", ".join(f"({sql})" for sql in odd)
            try:
                connection.execute(f"SELECT {asked} FROM (SELECT {own}) LIMIT 0")
            except duckdb.Error as error:
                self._blame(connection)
                raise EvidenceError(f"tables.{self.name}: {error}") from error

    def _create_trail(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._create(connection, "trail", self._trail())

    def _create_commits(self, connection: duckdb.DuckDBPyConnection) -> str | None:
        emptied = connection.execute(f"SELECT 1 FROM trail.{self.name} WHERE action = 'T' LIMIT 1").fetchall()
        folded = emptied or connection.execute(_TWICE.format(name=self.name)).fetchall()
        if folded or not self._recorded("base", "changes"):
            self._create(connection, "commits", self._commits(emptied=bool(emptied)))
            return None
        columns = ", ".join(quote(column) for column in TABLES[self.name])
        connection.execute(
            f"CREATE VIEW commits.{self.name} AS SELECT {_FOLDED}, {columns} FROM trail.{self.name}"
        )
        return VIEW

    def _create_state(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._create(connection, "state", self._state())

    def _create(self, connection: duckdb.DuckDBPyConnection, schema: str, select: str | None) -> None:
        if select is None:
            _create_empty(connection, schema=schema, name=self.name)
            return
        try:
            connection.execute(f"CREATE TABLE {schema}.{self.name} AS {select}")
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            told = refused(f"tables.{self.name}", error)
            if not isinstance(told, NoRoomError):
                self._blame(connection)
            raise told from error

    def _blame(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Run each expression by itself, to raise an error that names the column it comes from."""
        for part in self.files:
            source = self._source(part)
            for where, expression in self._expressions().items():
                typed = (
                    self._columns()[where.partition(".")[2]]
                    if "." in where
                    else f"CAST(({expression}) AS BOOLEAN)"
                )
                try:
                    connection.execute(f"SELECT count({typed}) FROM ({source})")
                except duckdb.Error as error:
                    raise EvidenceError(f"tables.{self.name}.{where} over {part}/: {error}") from error

    def _expressions(self) -> dict[str, str]:
        """Return what the target is described by, each as it is called in the brief."""
        return {"where": self.table.where} | {
            f"columns.{column}": sql for column, sql in self.table.columns.items()
        }

    def _columns(self) -> dict[str, str]:
        """Return the canonical columns as typed expressions; one the target lacks is NULL."""
        return {
            column: f"CAST(({self.table.columns.get(column, 'NULL')}) AS {kind})"
            for column, kind in TABLES[self.name].items()
        }

    def _source(self, *parts: str) -> str:
        """Select the target's own columns by their own names, and the head of a change by names no target uses."""
        files = ", ".join(literal(self.files[part]) for part in parts)
        columns = dict.fromkeys(column for part in parts for column in self._footers[part].columns)
        own = [f"{quote(PREFIX + column)} AS {quote(column)}" for column in columns]
        # What stood there before was changed by nobody.
        head = {name: f"CASE WHEN action <> 'B' THEN {name} END" for name in ("xid", "commit_us")}
        head |= {
            name: f"CASE WHEN action <> 'B' THEN {name} ELSE 0 END"
            for name in ("commit_lsn", "position", "change_lsn")
        }
        head = {} if parts == ("state",) else head | {"action": "action"}
        own += [f"CAST({sql} AS {_HEAD[name]}) AS {quote(_OURS + name)}" for name, sql in head.items()]
        return f"SELECT {', '.join(own)} FROM read_parquet([{files}], union_by_name = true)"

    def _row_key(self) -> str:
        return "concat_ws(chr(31), " + ", ".join(quote(column) for column in self.table.key) + ")"

    def _meant(self) -> str:
        return f"coalesce(CAST(({self.table.where}) AS BOOLEAN), false)"

    def _trail(self) -> str | None:
        """Select every image of a row, of what stood there before too; None if there are none."""
        parts = self._recorded("base", "changes")
        if not parts:
            return None
        present = quote(_OURS + "present")
        columns = [f"{quote(_OURS + name)} AS {name}" for name in _HEAD]
        columns += [f"{self._row_key()} AS row_key", f"{present} AS present"]
        # A row that is gone, or is not meant, has no values: only its key is known.
        columns += [f"CASE WHEN {present} THEN {sql} END AS {name}" for name, sql in self._columns().items()]
        return f"""
            SELECT {", ".join(columns)} FROM (
                SELECT *, {quote(_OURS + "action")} NOT IN {_GONE} AND {self._meant()} AS {present}
                FROM ({self._source(*parts)})
            )
        """

    def _commits(self, *, emptied: bool) -> str | None:
        """Keep the last image per key and transaction; a truncation ends every row that had been seen before it."""
        if not self._recorded("base", "changes"):
            return None
        images = _ENDED.format(name=self.name) if emptied else f"trail.{self.name}"
        columns = ", ".join(quote(column) for column in TABLES[self.name])
        return f"""
            SELECT {_FOLDED}, {columns} FROM {images}
            QUALIFY row_number() OVER (PARTITION BY row_key, commit_lsn ORDER BY position DESC) = 1
        """

    def _state(self) -> str | None:
        if not self._recorded("state"):
            return None
        columns = [f"{self._row_key()} AS row_key"]
        columns += [f"{sql} AS {name}" for name, sql in self._columns().items()]
        return f"SELECT {', '.join(columns)} FROM ({self._source('state')}) WHERE {self._meant()}"

    def _recorded(self, *parts: str) -> tuple[str, ...]:
        """Return those of some parts in which there is a row."""
        return tuple(part for part in parts if part in self._footers and self._footers[part].rows)


def absent(name: str) -> Iterator[Recipe]:
    """Return how a canonical table is made that the target does not have: empty; what needs it is not offered, and says so."""
    for schema in ("trail", "commits", "state"):
        yield Recipe(f"{schema}.{name}", partial(_create_empty, schema=schema, name=name))


def _create_empty(connection: duckdb.DuckDBPyConnection, *, schema: str, name: str) -> None:
    head = {} if schema == "state" else _HEAD | {"present": "BOOLEAN"}
    if schema == "commits":
        head.pop("position")
    kinds = head | {"row_key": "VARCHAR"} | TABLES[name]
    described = ", ".join(f"{column} {kind}" for column, kind in kinds.items())
    connection.execute(f"CREATE TABLE {schema}.{name} ({described})")


@cache
def _is_plain(word: str) -> bool:
    """Whether a word stands for a column as it is, and is none of the language."""
    return duckdb.tokenize(word) == [(0, duckdb.token_type.identifier)]
