"""Reads one invariant: a header of comments, a `looked at` statement and a `counter-examples` statement.

Where SQL is not enough the header stands above a Python module with a function `judge(evidence)`.
"""

from __future__ import annotations

import re
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import msgspec

from checker import assumptions
from checker.canonical import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.evidence import Evidence

    # How much was looked at, and the counter-examples; raises checker.linear.Undecided.
    Judge = Callable[[Evidence], tuple[int, list[dict[str, Any]]]]

FIELDS: Final = ("name", "sentence", "needs", "rests on", "catches")
OPTIONAL: Final = ("a pass rests on", "a violation rests on")
PARTS: Final = ("looked at", "counter-examples")
RECORDED: Final = ("operations", "trail", "state", "faults", "clocks", "snapshots", "samples", "effects")
NOTHING: Final = "nothing"

_FIELD = re.compile(r"-- ([a-z][a-z -]*): (.+)")
_CONTINUED = re.compile(r"--   +(\S.*)")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class InvariantError(Exception):
    """A file is no invariant; says where and why."""

    def __init__(self, path: Path, line: int, what: str) -> None:
        super().__init__(f"{path}:{line}: {what}" if line else f"{path}: {what}")


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """One invariant: its sentence, what it needs and rests on, the public bug kinds it catches, and its queries.

    Where something of `rests_on` is broken it is unknown whatever it found; where only something of `pass_rests_on`
    is, what it found stands, and to have found nothing means nothing; and where only something of `violation_rests_on` is,
    it is the other way round.
    """

    name: str
    group: str
    sentence: str
    needs: tuple[str, ...]
    rests_on: tuple[str, ...]
    pass_rests_on: tuple[str, ...]
    violation_rests_on: tuple[str, ...]
    catches: tuple[str, ...]
    looked_at: str
    counter_examples: str
    sql_hash: str
    path: str

    @property
    def is_python(self) -> bool:
        """Whether a function judges, in place of the two statements."""
        return self.path.endswith(".py")

    @property
    def texts(self) -> tuple[str, ...]:
        """All that it asks by, in which the tables that it reads are named."""
        if self.is_python:
            return (Path(self.path).read_text(encoding="utf-8"),)
        return self.looked_at, self.counter_examples

    def function(self) -> Judge:
        """Return the function of a Python rule; raises InvariantError where the module does not load or has none."""
        path = Path(self.path)
        spec = spec_from_file_location(f"{__name__}:{self.name}", path)
        if spec is None or spec.loader is None:
            raise InvariantError(path, 0, "it is no Python module")
        module = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
            judge: Judge = module.judge
        except (Exception, SystemExit) as error:
            raise InvariantError(path, 0, f"it gives no function `judge`: {error}") from error
        return judge


def read_rule(path: Path, *, group: str) -> Rule:
    """Read one .sql or .py file; raises InvariantError with the line at which it stops being an invariant."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvariantError(path, 0, f"cannot be read: {error}") from error
    is_python = path.suffix == ".py"
    lines = _as_sql(text.splitlines()) if is_python else text.splitlines()
    fields, body_at = _header(path, lines)
    looked_at, counter_examples = ("", "") if is_python else _statements(path, lines, body_at)
    for field in FIELDS:
        if field not in fields:
            raise InvariantError(path, body_at, f"the header lacks `-- {field}: …`")
    name, line = fields["name"]
    if not _NAME.fullmatch(name):
        raise InvariantError(path, line, f"the name {name!r} is not lower_snake_case")
    if name != path.stem:
        raise InvariantError(path, line, f"the name {name} differs from the file's, {path.stem}")
    rule = Rule(
        name=name,
        group=group,
        sentence=_sentence(path, *fields["sentence"]),
        needs=_needs(path, *fields["needs"]),
        rests_on=_rests_on(path, *fields["rests on"]),
        pass_rests_on=_rests_on(path, *fields.get("a pass rests on", (NOTHING, 0))),
        violation_rests_on=_rests_on(path, *fields.get("a violation rests on", (NOTHING, 0))),
        catches=_listed(fields["catches"][0]),
        looked_at=looked_at,
        counter_examples=counter_examples,
        sql_hash=sha256(text.encode()).hexdigest()[:16],
        path=str(path),
    )
    if is_python:
        rule.function()
    return rule


def _as_sql(lines: list[str]) -> list[str]:
    """Return the header of a Python module as that of a statement; it ends with the first line that is no comment."""
    comments = list(takewhile(lambda line: line.startswith("#"), lines))
    return [f"--{line.removeprefix('#')}" for line in comments]


def _header(path: Path, lines: list[str]) -> tuple[dict[str, tuple[str, int]], int]:
    """Return the fields with the lines they stand in, and the number of the first line after the header."""
    fields: dict[str, tuple[str, int]] = {}
    last = ""
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.removeprefix("-- ").strip() in PARTS:
            return fields, number
        if last and (continued := _CONTINUED.fullmatch(line)):
            value, at = fields[last]
            fields[last] = (f"{value} {continued[1].strip()}", at)
        elif field := _FIELD.fullmatch(line):
            last = field[1]
            if last not in (*FIELDS, *OPTIONAL):
                known = ", ".join((*FIELDS, *OPTIONAL))
                raise InvariantError(path, number, f"`{last}` is no header; they are {known}")
            if last in fields:
                raise InvariantError(path, number, f"`{last}` is given twice")
            fields[last] = (field[2].strip(), number)
        else:
            raise InvariantError(path, number, f"expected `-- field: value` in the header, found {line!r}")
    return fields, len(lines) + 1


def _statements(path: Path, lines: list[str], start: int) -> tuple[str, str]:
    parts: dict[str, list[str]] = {}
    for number, line in enumerate(lines[start - 1 :], start=start):
        marker = line.removeprefix("-- ").strip()
        if line.startswith("-- ") and marker in PARTS:
            if list(parts) != list(PARTS[: PARTS.index(marker)]):
                raise InvariantError(
                    path, number, f"`-- {marker}` is out of order: first {' then '.join(PARTS)}"
                )
            parts[marker] = []
        elif parts:
            parts[list(parts)[-1]].append(line)
        elif line.strip():
            raise InvariantError(path, number, f"expected `-- {PARTS[0]}`, found {line!r}")
    for part in PARTS:
        if not _spoken(parts.get(part, [])):
            raise InvariantError(path, len(lines), f"there is no statement under `-- {part}`")
    first, second = (_query(path, lines.index(f"-- {part}") + 1, "\n".join(parts[part])) for part in PARTS)
    return first, second


def _query(path: Path, line: int, text: str) -> str:
    """Return the one query of a part without its semicolon; a second statement could change what the next one sees."""
    try:
        statements = duckdb.extract_statements(text)
    except duckdb.Error as error:
        raise InvariantError(path, line, f"no SQL: {str(error).partition(chr(10))[0]}") from error
    if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
        raise InvariantError(path, line, "not one query: a part is one SELECT, and nothing besides")
    return text.strip().removesuffix(";")


def _spoken(lines: list[str]) -> bool:
    return any(line.strip() and not line.lstrip().startswith("--") for line in lines)


def _sentence(path: Path, text: str, line: int) -> str:
    if not text.endswith("."):
        raise InvariantError(path, line, "the sentence does not end with a full stop")
    return text


def _listed(text: str) -> tuple[str, ...]:
    return () if text == NOTHING else tuple(part.strip() for part in text.split(","))


def _needs(path: Path, text: str, line: int) -> tuple[str, ...]:
    needs = _listed(text)
    for need in needs:
        table, _, column = need.partition(".")
        if need not in RECORDED and (table not in TABLES or (column and column not in TABLES[table])):
            known = ", ".join((*RECORDED, *TABLES))
            raise InvariantError(path, line, f"needs {need!r}, which is no evidence; there are {known}")
    return needs


def _rests_on(path: Path, text: str, line: int) -> tuple[str, ...]:
    names = _listed(text)
    known = assumptions.names("evidence")
    for name in names:
        if name not in known:
            raise InvariantError(
                path,
                line,
                f"rests on {name!r}, which is no assumption of evidence; there are {', '.join(known)}",
            )
    return names
