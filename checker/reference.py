"""The parts of docs/reference that are generated from the checker itself; a test fails when they are stale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from checker.invariants import load
from checker.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from checker.rule import Rule

SCHEMA_TITLE: Final = "The verdict on one run of Lastseat, as it stands in verdict.json"


def pages() -> Mapping[str, str]:
    """Return the generated files by their place below docs/reference."""
    return {"invariants.md": invariants_page(), "verdict.schema.json": verdict_schema()}


def verdict_schema() -> str:
    """Return the JSON Schema of verdict.json."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": SCHEMA_TITLE}
    schema |= msgspec.json.schema(Verdict)
    return msgspec.json.format(msgspec.json.encode(schema), indent=2).decode() + "\n"


def invariants_page() -> str:
    """Return the table of the built-in invariants, a section a group."""
    rules = load().values()
    lines = [
        "# Invariants",
        "",
        "Generated from `checker/invariants/` by `make docs`. What the columns mean, and how to add one:",
        "[Add an invariant](../how-to/add-an-invariant.md).",
    ]
    for group in dict.fromkeys(rule.group for rule in rules):
        lines += ["", f"## {group.capitalize()}", ""]
        lines += [
            "| name | what is true of a correct service | needs | rests on | catches |",
            "|---|---|---|---|---|",
        ]
        lines += [_row(rule) for rule in rules if rule.group == group]
    return "\n".join(lines) + "\n"


def _row(rule: Rule) -> str:
    cells = (
        f"`{rule.name}`",
        rule.sentence,
        _words(rule.needs),
        "; ".join(_grounds(rule)),
        ", ".join(rule.catches),
    )
    return f"| {' | '.join(cells)} |"


def _grounds(rule: Rule) -> Iterator[str]:
    yield _words(rule.rests_on)
    if rule.pass_rests_on:
        yield f"to pass: {_words(rule.pass_rests_on)}"
    if rule.violation_rests_on:
        yield f"to fail: {_words(rule.violation_rests_on)}"


def _words(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing"
