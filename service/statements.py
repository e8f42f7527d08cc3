"""Named SQL statements, loaded from the .sql files beside the module that calls them.

A file holds statements of this form, and nothing else:

    -- name: take
    -- One or more lines that say in a sentence what the statement does, and why so.
    SELECT … WHERE id = :id

Parameters are written `:name` and become PostgreSQL's `$n` once, when the file is loaded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HEAD: Final = re.compile(r"^-- name: ([a-z_]+)\n((?:-- .*\n)+)", re.MULTILINE)
_PARAMETER: Final = re.compile(r"(?<![:\w]):([a-z][a-z_]*)")


class StatementError(ValueError):
    """A .sql file breaks the form that `service.statements` describes."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One named SQL statement and the order in which its parameters are passed."""

    name: str
    sentence: str
    text: str
    parameters: tuple[str, ...]

    def values(self, given: Mapping[str, object]) -> list[object]:
        """Return the parameters in order; raises KeyError when one is missing and TypeError for one too many."""
        if len(given) != len(self.parameters):
            raise TypeError(f"{self.name} takes {self.parameters}, not {tuple(given)}")
        return [given[name] for name in self.parameters]

    async def row(self, connection: Any, **given: object) -> Any:
        """Run it and return its first row, or None."""
        return await connection.fetchrow(self.text, *self.values(given))

    async def rows(self, connection: Any, **given: object) -> Sequence[Any]:
        """Run it and return all its rows."""
        rows: Sequence[Any] = await connection.fetch(self.text, *self.values(given))
        return rows

    async def value(self, connection: Any, **given: object) -> Any:
        """Run it and return the first column of its first row, or None."""
        return await connection.fetchval(self.text, *self.values(given))


def load(package: str, file: str) -> dict[str, Statement]:
    """Return the statements of `package`/sql/`file`.sql by name; raises StatementError on another form."""
    text = (resources.files(package) / "sql" / f"{file}.sql").read_text(encoding="utf-8")
    return {statement.name: statement for statement in parse(text)}


def parse(text: str) -> list[Statement]:
    """Return the statements of one file in order; raises StatementError on another form."""
    heads = list(_HEAD.finditer(text))
    if not heads or text[: heads[0].start()].strip():
        raise StatementError("a file of statements starts with a line `-- name: …` and a sentence below it")
    ends = [head.start() for head in heads[1:]] + [len(text)]
    found = [_statement(head, text[head.end() : end]) for head, end in zip(heads, ends, strict=True)]
    if len({statement.name for statement in found}) != len(found):
        raise StatementError("two statements of one file share a name")
    return found


def _statement(head: re.Match[str], body: str) -> Statement:
    code = "\n".join(line for line in body.splitlines() if not line.lstrip().startswith("--"))
    order: dict[str, int] = {}
    text = _PARAMETER.sub(lambda match: f"${order.setdefault(match[1], len(order) + 1)}", code)
    if not text.strip() or "-- name:" in body:
        raise StatementError(f"{head[1]}: no statement, or a name without a sentence")
    sentence = " ".join(line.removeprefix("-- ") for line in head[2].splitlines())
    return Statement(name=head[1], sentence=sentence, text=text.strip().rstrip(";"), parameters=tuple(order))
