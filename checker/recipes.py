"""How each table of the evidence is made, and out of which others: when somebody reads it, and not before; and until when it stays.

To plan the statements of all of them takes longer than to judge a small run by those that its scenario asks for.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
    from pathlib import Path

    # Returns VIEW where it made one.
    Make = Callable[[duckdb.DuckDBPyConnection], object]

_COMMENT: Final = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD: Final = re.compile(r"\w+")
_QUALIFIED: Final = re.compile(r'\b(\w+)"?\s*\.\s*"?(\w+)')
_SET_ASIDE: Final = re.compile(r"\b(\w+)\s+as\s+(?:not\s+)?(?:materialized\s+)?\(")
# Who asks which tables there are reads all of them, and so may a function that asks DuckDB itself.
_ASKS_FOR_ALL: Final = re.compile(
    r"\b(?:information_schema|(?:duckdb|pg|sqlite|pragma)_\w+|show|describe|summarize|\w+\.connection)\b"
)
# What is read from no file, and yet is there before all that is derived.
_GIVEN: Final = frozenset({"at_rest", "refusals", "offered"})
_CREATED: Final = re.compile(r"\bcreate (table|view) (\w+)")
VIEW: Final = "view"
KEPT_ROWS_MAX: Final = 100_000
"""Up to how many rows a table may stay that nobody will read: to drop it would free next to nothing."""


class Recipe(NamedTuple):
    """One table or view: its name as a query says it, how it is made, and the names that its making reads."""

    name: str
    make: Make
    reads: frozenset[str] = frozenset()


class Recipes:
    """The tables that can be made, and which of them are there."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, recipes: Iterable[Recipe]) -> None:
        self._connection = connection
        self._recipes = {recipe.name: recipe for recipe in recipes}
        self._made: set[str] = set()
        self._views: set[str] = set()
        self._large: set[str] = set()
        self._asked: frozenset[str] = frozenset()
        self._expected: frozenset[str] = frozenset(self._recipes)

    def provide(self, text: str) -> None:
        """Make what a text names and is not there; raises what making it raises."""
        self._provide(self._named_by(text))

    def provide_missing(self, complaint: str) -> bool:
        """Make what DuckDB says it did not find, under whatever schema; return whether that was anything."""
        words = {word.lower() for word in _WORD.findall(complaint)}
        missing = {name for name in self._recipes.keys() - self._made if name.rpartition(".")[2] in words}
        self._provide(missing)
        return bool(missing)

    def provide_all(self) -> None:
        """Make whatever is not there."""
        self._provide(self._recipes.keys())

    def _provide(self, names: Iterable[str]) -> None:
        asked = sorted(names)
        self._asked |= frozenset(asked)
        for name in asked:
            self._make(name)

    def expect(self, texts: Iterable[str]) -> None:
        """Drop the large tables that none of some texts reads; what is asked for from then on stays until the next time.

        Should somebody ask for one that is gone after all it is made again.
        """
        self._expected = frozenset[str]().union(*map(self._named_by, texts))
        self._asked = frozenset()
        self._drop_unread()

    def breadth(self, texts: Iterable[str]) -> int:
        """Return how many tables are read to answer some texts, those out of which others are made among them."""
        read: set[str] = set()
        for name in frozenset[str]().union(*map(self._named_by, texts)):
            self._walk(name, read, there=frozenset())
        return len(read)

    def _named_by(self, text: str) -> frozenset[str]:
        names = read_by(text)
        return frozenset(self._recipes) if "*" in names else names & self._recipes.keys()

    def _walk(self, name: str, read: set[str], *, there: Container[str]) -> None:
        """Add what is read where a name is: itself, and what it is made out of unless it is there."""
        if name in read:
            return
        read.add(name)
        if name not in there:
            for needed in self._recipes[name].reads & self._recipes.keys():
                self._walk(needed, read, there=there)

    def _drop_unread(self) -> None:
        if not self._large:
            return
        read: set[str] = set()
        for name in self._asked | self._expected:
            self._walk(name, read, there=self._made - self._views)
        for name in self._large - read:
            self._connection.execute(f"DROP TABLE {_qualified(name)}")
            self._made.discard(name)
        self._large &= read

    def _make(self, name: str) -> None:
        if name in self._made - self._views:
            return
        # What a view reads may have been dropped since it was made.
        recipe = self._recipes[name]
        for needed in sorted(recipe.reads & self._recipes.keys()):
            self._make(needed)
        if name in self._made:
            return
        if recipe.make(self._connection) == VIEW:
            self._views.add(name)
        self._made.add(name)
        if name not in self._views and self._rows(name) > KEPT_ROWS_MAX:
            self._large.add(name)
            self._drop_unread()

    def _rows(self, name: str) -> int:
        (count,) = self._connection.execute(f"SELECT count(*) FROM {_qualified(name)}").fetchone() or (0,)
        return int(count)


def _qualified(name: str) -> str:
    """Return the name of a table here and of no temporary one, which would be meant even by `main.`."""
    return f"memory.{name}" if "." in name else f"memory.main.{name}"


@lru_cache(maxsize=512)
def read_by(text: str) -> frozenset[str]:
    """Return every word of some SQL that may name a table, `schema.table` too; `*` where it asks for all of them.

    It may name too much, which costs time, and should it miss a name, the query fails for want of that table.
    """
    said = _COMMENT.sub(" ", text).lower()
    qualified = {f"{schema}.{table}" for schema, table in _QUALIFIED.findall(said)}
    every = {"*"} if _ASKS_FOR_ALL.search(said) else set()
    return frozenset(({*_WORD.findall(said)} - {*_SET_ASIDE.findall(said)}) | qualified | every)


@lru_cache(maxsize=1)
def derived(folder: Path) -> tuple[Recipe, ...]:
    """Return the recipes of a folder of .sql files: each of their statements creates one table or view."""
    recipes: list[Recipe] = []
    for path in sorted(folder.glob("*.sql")):
        for statement in duckdb.extract_statements(path.read_text(encoding="utf-8")):
            recipes.append(_derived(statement.query, {recipe.name for recipe in recipes}))
    return tuple(recipes)


def _derived(statement: str, before: set[str]) -> Recipe:
    """Make the recipe of a statement; of derived tables it reads those that stand before it, whatever its columns are called."""
    ((kind, name),) = _CREATED.findall(_COMMENT.sub(" ", statement).lower())
    said = read_by(statement)
    reads = (said & (before | _GIVEN)) | {each for each in said if "." in each}

    def make(connection: duckdb.DuckDBPyConnection) -> str:
        connection.execute(statement)
        return str(kind)

    return Recipe(name, make, reads)
