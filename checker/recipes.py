"""How each table of the evidence is made, and out of which others: it is made when somebody reads it, and not before.

To plan the statements of all of them takes longer than to judge a small run by those that its scenario asks for.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    Make = Callable[[duckdb.DuckDBPyConnection], object]

_COMMENT: Final = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD: Final = re.compile(r"\w+")
_QUALIFIED: Final = re.compile(r'\b(\w+)"?\s*\.\s*"?(\w+)')
_SET_ASIDE: Final = re.compile(r"\b(\w+)\s+as\s+(?:not\s+)?(?:materialized\s+)?\(")
# Who asks which tables there are reads all of them.
_ASKS_FOR_ALL: Final = re.compile(
    r"\b(?:information_schema|(?:duckdb|pg|sqlite|pragma)_\w+|show|describe|summarize)\b"
)
# What is read from no file, and yet is there before all that is derived.
_GIVEN: Final = frozenset({"at_rest", "refusals", "offered"})
_CREATED: Final = re.compile(r"\bcreate (?:table|view) (\w+)")


class Recipe(NamedTuple):
    """One table or view: its name as a query says it, how it is made, and the names that its making reads."""

    name: str
    make: Make
    reads: frozenset[str] = frozenset()


class Recipes:
    """The tables that nobody has read yet."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, recipes: Iterable[Recipe]) -> None:
        self._connection = connection
        self._waiting = {recipe.name: recipe for recipe in recipes}

    def provide(self, text: str) -> None:
        """Make what a text names; raises what making it raises."""
        names = read_by(text)
        for name in sorted(self._waiting if "*" in names else names & self._waiting.keys()):
            self._make(name)

    def provide_all(self) -> bool:
        """Make whatever is not there yet; return whether anything was not."""
        lacked = bool(self._waiting)
        for name in tuple(self._waiting):
            self._make(name)
        return lacked

    def _make(self, name: str) -> None:
        recipe = self._waiting.get(name)
        if recipe is None:
            return
        for needed in sorted(recipe.reads & self._waiting.keys()):
            self._make(needed)
        recipe.make(self._connection)
        del self._waiting[name]


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
    (name,) = _CREATED.findall(_COMMENT.sub(" ", statement).lower())
    said = read_by(statement)
    reads = (said & (before | _GIVEN)) | {each for each in said if "." in each}
    return Recipe(name, lambda connection: connection.execute(statement), reads)
