"""The evidence of one run, loaded into DuckDB under the names in which invariants are written."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow.parquet as pq

from checker.canonical import TABLES
from checker.engine import connect, restrict
from checker.errors import EvidenceError, NoRoomError, refused
from checker.mapping import Mapping, absent
from checker.quoting import literal, quote
from checker.recipes import Recipe, Recipes, derived
from checker.recorded import FILES, load_files
from checker.spill import spill
from checker.state import READ_KEY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from checker.brief import Brief
    from checker.verdict import Scalar

__all__ = ["DERIVED", "FILES", "Evidence", "EvidenceError", "open_evidence"]

_TEMPORARY: Final = """
SELECT 'TABLE', table_name FROM duckdb_tables() WHERE temporary
UNION ALL SELECT 'VIEW', view_name FROM duckdb_views() WHERE temporary AND NOT internal
"""
DERIVED: Final = Path(__file__).parent / "derived"


class Evidence:
    """The tables of one run, each made when it is read; `lacks` says which it or its target does not have, and why."""

    def __init__(
        self,
        folder: Path,
        brief: Brief,
        connection: duckdb.DuckDBPyConnection,
        mappings: Sequence[Mapping],
    ) -> None:
        self.folder = folder
        self.brief = brief
        self._connection = connection
        self._mappings = {mapping.name: mapping for mapping in mappings}
        self._recipes = Recipes(connection, _recipes(folder, brief, mappings))

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """DuckDB itself, with every table there is; whoever asks by `execute` waits only for what is read."""
        with self._described():
            self._recipes.provide_all()
        return self._connection

    @property
    def bare(self) -> duckdb.DuckDBPyConnection:
        """DuckDB itself, with the tables that happen to be there: for who reads files."""
        return self._connection

    def prepare(self, text: str) -> None:
        """Make the tables that some SQL reads; raises EvidenceError where the evidence is not as described."""
        with self._described():
            self._recipes.provide(text)

    def drop_temporary(self) -> None:
        """Drop what a function has set aside, and end what it began: a temporary table is found before any other of its name."""
        with suppress(duckdb.TransactionException):
            self._connection.execute("ROLLBACK")
        for kind, name in self._connection.execute(_TEMPORARY).fetchall():
            self._connection.execute(f"DROP {kind} temp.{quote(name)}")

    def expect(self, texts: Iterable[str]) -> None:
        """Give back the memory of what none of some SQL reads; it is made again should it be asked for after all."""
        with self._described():
            self._recipes.expect(texts)

    def breadth(self, texts: Iterable[str]) -> int:
        """Return out of how many tables, one by another, some SQL is answered."""
        return self._recipes.breadth(texts)

    @contextmanager
    def _described(self) -> Iterator[None]:
        try:
            yield
        except duckdb.InterruptException:
            raise
        except duckdb.Error as error:
            raise refused(self.folder, error) from error
        except RuntimeError as ended:
            if str(ended) == "Query interrupted":  # what DuckDB makes of Ctrl-C
                raise KeyboardInterrupt from ended
            raise

    def _found(self, complaint: str) -> bool:
        with self._described():
            return self._recipes.provide_missing(complaint)

    def interrupt(self) -> None:
        """End the query that is running, from another thread."""
        self._connection.interrupt()

    def execute(self, sql: str, *parameters: Scalar) -> duckdb.DuckDBPyConnection:
        """Run a statement over the tables that it reads; raises duckdb.Error."""
        self.prepare(sql)
        while True:
            try:
                return self._connection.execute(sql, parameters)
            except (duckdb.CatalogException, duckdb.BinderException) as missing:
                # A name may stand where it was not seen.
                if not self._found(str(missing)):
                    raise

    def rows(self, sql: str, *parameters: Scalar) -> list[tuple[Any, ...]]:
        """Return what a query selects; raises duckdb.Error."""
        return self.execute(sql, *parameters).fetchall()

    def row(self, sql: str, *parameters: Scalar) -> tuple[Any, ...]:
        """Return the only row of a query."""
        (row,) = self.rows(sql, *parameters)
        return row

    def records(self, sql: str, *parameters: Scalar) -> list[dict[str, Any]]:
        """Return what a query selects, each row by column name."""
        result = self.execute(sql, *parameters)
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
    with ExitStack() as opened:
        try:
            room = opened.enter_context(spill())
        except OSError as full:
            raise NoRoomError(f"there is no room for what does not fit into memory: {full}") from full
        connection = opened.enter_context(connect(room))
        try:
            mappings = _load(folder.resolve(), brief, connection)
        except duckdb.Error as error:
            raise refused(folder, error) from error
        yield Evidence(folder.resolve(), brief, connection, mappings)


def _load(folder: Path, brief: Brief, connection: duckdb.DuckDBPyConnection) -> list[Mapping]:
    mappings = [Mapping(folder, name, table) for name, table in brief.tables.items()]
    connection.execute("SET TimeZone = 'UTC'; SET parquet_metadata_cache = true")
    for schema in ("trail", "commits", "state"):
        connection.execute(f"CREATE SCHEMA {schema}")
    # PostgreSQL prints what ISO 8601 and DuckDB read; `infinity` becomes NULL.
    connection.execute("CREATE MACRO instant_us(printed) AS epoch_us(CAST(printed AS TIMESTAMPTZ))")
    load_files(folder, connection)
    restrict(connection, folder)
    for mapping in mappings:
        mapping.check(connection)
    return mappings


def _recipes(folder: Path, brief: Brief, mappings: Sequence[Mapping]) -> Iterator[Recipe]:
    """Return how everything is made that is not read from a file as it stands."""
    for mapping in mappings:
        yield from mapping.recipes()
    for name in TABLES.keys() - brief.tables.keys():
        yield from absent(name)
    yield Recipe("at_rest", partial(_create_at_rest, folder=folder), frozenset({"changes"}))
    yield Recipe("refusals", partial(_create_refusals, brief=brief))
    yield Recipe("offered", partial(_create_offered, brief=brief))
    yield from derived(DERIVED)


def _create_at_rest(connection: duckdb.DuckDBPyConnection, *, folder: Path) -> None:
    """Create `at_rest`: when the state was read, by the database's clock; where that was not kept, its last commit."""
    kept = [pq.read_schema(path).metadata or {} for path in sorted((folder / "state").glob("*.parquet"))]
    try:
        read_us = min((int(metadata[READ_KEY]) for metadata in kept if READ_KEY in metadata), default=None)
    except ValueError as odd:
        raise EvidenceError(f"{folder / 'state'}: when it was read is no number: {odd}") from odd
    connection.execute(
        "CREATE TABLE at_rest AS SELECT coalesce(CAST(? AS BIGINT), (SELECT max(commit_us) FROM changes)) AS read_us",
        [read_us],
    )


def _create_refusals(connection: duckdb.DuckDBPyConnection, *, brief: Brief) -> None:
    """Create `refusals`: what the codes of the target mean."""
    connection.execute("CREATE TABLE refusals (meaning VARCHAR, code VARCHAR)")
    pairs = [(meaning, code) for meaning, codes in sorted(brief.refusals.items()) for code in codes]
    if pairs:
        values = ", ".join(f"({literal(meaning)}, {literal(code)})" for meaning, code in pairs)
        connection.execute(f"INSERT INTO refusals VALUES {values}")


def _create_offered(connection: duckdb.DuckDBPyConnection, *, brief: Brief) -> None:
    """Create `offered`: which canonical tables the target has, and whether an offer tells under which term it was swept."""
    has = ", ".join(f"{'true' if name in brief.tables else 'false'} AS {name}" for name in TABLES)
    answers = "true" if "idempotency_answers" in brief.tables else "false"
    offers = brief.tables.get("offers")
    terms = "true" if offers is not None and "term" in offers.columns else "false"
    connection.execute(f"CREATE TABLE offered AS SELECT {has}, {answers} AS answers, {terms} AS offer_terms")
