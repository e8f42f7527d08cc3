"""Invariants: each is one file, SQL or Python, that returns its counter-examples, found by walking the folders."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from checker.rule import RECORDED, InvariantError, Rule, read_rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from checker.brief import Brief

__all__ = ["InvariantError", "Rule", "group", "load", "not_offered"]

HERE: Final = Path(__file__).parent


def load(extra_dirs: Iterable[Path] = ()) -> dict[str, Rule]:
    """Return every invariant by name, the built-in ones and those of other folders.

    Raises InvariantError on a file that is not one, on a name that is taken, and on a folder that is not there.
    """
    rules = dict(_built_in())
    for folder in extra_dirs:
        _add(rules, folder)
    return rules


@cache
def _built_in() -> Mapping[str, Rule]:
    """Read the invariants that come with the checker, once a process: to parse them takes longer than a small run's verdict."""
    rules: dict[str, Rule] = {}
    _add(rules, HERE)
    return MappingProxyType(rules)


def _add(rules: dict[str, Rule], folder: Path) -> None:
    if not folder.is_dir():
        raise InvariantError(folder, 0, "no such folder of invariants")
    files = sorted((*folder.rglob("*.sql"), *folder.rglob("[!_]*.py")))
    if not files:
        raise InvariantError(folder, 0, "there is no invariant in it, no .sql and no .py")
    for path in files:
        rule = read_rule(path, group=path.parent.name)
        if rule.name in rules:
            raise InvariantError(path, 1, f"the name {rule.name} is taken by {rules[rule.name].path}")
        rules[rule.name] = rule


def group(name: str) -> tuple[str, ...]:
    """Return the names of a group's built-in invariants, for a scenario that wants them all."""
    return tuple(rule.name for rule in load().values() if rule.group == name)


def not_offered(rule: Rule, brief: Brief) -> str | None:
    """Say why a target cannot be held to an invariant, before anything is run; None if it can."""
    for need in rule.needs:
        table, _, column = need.partition(".")
        if need in RECORDED:
            continue
        if table not in brief.tables:
            return f"not offered: the target has no {table}"
        if column and column not in brief.tables[table].columns:
            return f"not offered: the target's {table} have no {column}"
    return None
