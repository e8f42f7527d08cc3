"""Whether the queries of an invariant can be asked at all: bound against evidence of which nothing was recorded."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from checker.brief import Brief
from checker.evidence import open_evidence
from checker.rule import PARTS, InvariantError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from checker.brief import CanonicalTable
    from checker.rule import Rule


def refuse_unbound(rules: Iterable[Rule], tables: Mapping[str, CanonicalTable]) -> None:
    """Raise InvariantError for the first rule that names a table or column there is not, on a target with these tables.

    Only what the evidence is called and how it is typed is looked at; a function of Python is not.
    """
    asked = [rule for rule in rules if not rule.is_python]
    if not asked:
        return
    with (
        tempfile.TemporaryDirectory(prefix="lastseat-nothing-") as nothing,
        open_evidence(Path(nothing), _nothing(tables)) as evidence,
    ):
        for rule in asked:
            for part, query in zip(PARTS, (rule.looked_at, rule.counter_examples), strict=True):
                try:
                    evidence.rows(f"EXPLAIN {query}")
                except duckdb.Error as error:
                    said = " ".join(str(error).split("\nLINE ")[0].split())
                    raise InvariantError(
                        Path(rule.path), 0, f"its `{part}` cannot be asked: {said}"
                    ) from error


def _nothing(tables: Mapping[str, CanonicalTable]) -> Brief:
    """Return the brief of a run in which nothing happened."""
    return Brief(
        run="",
        scenario="",
        story="",
        profile="smoke",
        seed=0,
        target="",
        command="",
        invariants=(),
        assumptions=(),
        tables=dict(tables),
    )
