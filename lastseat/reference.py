"""Writes docs/reference from what the code says of itself: `python -m lastseat.reference`, which `make docs` calls."""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import typer.main
from typer.core import TyperGroup

import checker.reference
from chaos import mutants
from chaos.faults import GRAMMAR, KINDS
from checker.invariants import load
from lastseat.cli import app
from scenarios import habit, registry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

FOLDER: Final = Path("docs/reference")
MEASURED: Final = frozenset({"track-record.md"})
"""Pages of that folder that a command measures, and nothing can generate: `lastseat mutants --markdown`."""


def pages() -> Mapping[str, str]:
    """Return the generated files by their place below docs/reference."""
    return {
        **checker.reference.pages(),
        "invariants.md": invariants_page(),
        "scenarios.md": scenarios_page(),
        "planted-bugs.md": mutants_page(),
        "faults.md": faults_page(),
        "command-line.md": commands_page(),
    }


def scenarios_page() -> str:
    """Return the scenarios with what they hold the service to, and the habits of buyers."""
    lines = [
        "# Scenarios",
        "",
        _generated("scenarios/stories/"),
        "[Add a scenario](../how-to/add-a-scenario.md).",
        "",
    ]
    for name in registry.names():
        scenario = registry.find(name)
        lines += [f"## `{name}`", "", scenario.story, ""]
        lines += _table(
            ("", ""),
            (
                ("on sale", f"{scenario.sale.resources} × capacity {scenario.sale.capacity}"),
                ("buyers", ", ".join(f"{share:.0%} {who}" for who, share in scenario.crowd.habits.items())),
                ("invariants", _code(scenario.invariants)),
                ("assumptions", _code(each.name for each in scenario.assumptions)),
            ),
        )
        lines.append("")
    habits = ((f"`{each.name}`", each.sentence) for each in habit.habits().values())
    return _page([*lines, "## Habits of buyers", "", *_table(("habit", "what such a buyer does"), habits)])


def invariants_page() -> str:
    """Return the invariants as the checker tells them, and which planted bugs each of them has to catch."""
    caught: defaultdict[str, list[str]] = defaultdict(list)
    for mutant in mutants.discover().values():
        for name in mutant.caught_by:
            caught[name].append(mutant.name)
    lines = ["", "## What trips them", ""]
    lines += [
        "The [planted bugs](planted-bugs.md) that each has to find in every run. Besides, each is tripped by a run"
    ]
    lines += ["written by hand that violates no other (`tests/oracle/test_every_invariant.py`).", ""]
    rows = ((f"`{name}`", _code(caught[name]) or "–") for name in load())
    return checker.reference.invariants_page() + _page([*lines, *_table(("name", "planted bugs"), rows)])


def mutants_page() -> str:
    """Return the planted bugs with their public reports, a table a section, then those that cannot bite here."""
    there = mutants.discover().values()
    lines = ["# Planted bugs", "", _generated("chaos/mutants/")]
    lines += [
        "[Catch a planted bug](../how-to/catch-a-planted-bug.md). What caught each of them, and how soon: the",
        "[track record](track-record.md).",
    ]
    for section in mutants.SECTIONS:
        rows = [_mutant(each) for each in there if each.section == section and not each.harmless]
        if rows:
            head = ("name", "what it does", "public reports", "shows in", "caught by", "by evidence of")
            lines += ["", f"## {section.capitalize()}", "", *_table(head, rows)]
    harmless = [
        (f"`{each.name}`", each.mechanism, _reports(each.reports), each.harmless)
        for each in there
        if each.harmless
    ]
    if harmless:
        why = ("name", "what it does", "public reports", "why nothing has to catch it")
        lines += ["", "## Those that cannot bite", "", *_table(why, harmless)]
    return _page(lines)


def _mutant(mutant: mutants.Mutant) -> Sequence[str]:
    rules = load()
    needed = (need.partition(".")[0] for name in mutant.caught_by for need in rules[name].needs)
    return (
        f"`{mutant.name}`",
        mutant.mechanism,
        _reports(mutant.reports),
        f"`{mutant.scenario}`",
        _code(mutant.caught_by),
        _code(dict.fromkeys(needed)),
    )


def faults_page() -> str:
    """Return the faults and how they are spelled."""
    lines = [
        "# Faults",
        "",
        _generated("chaos/"),
        "",
        "A fault is spelled",
        "",
        "```text",
        GRAMMAR,
        "```",
        "",
    ]
    rows = ((f"`{kind}`", (fault.__doc__ or "").partition("\n")[0]) for kind, fault in KINDS.items())
    return _page([*lines, *_table(("kind", "what it does"), rows)])


def commands_page() -> str:
    """Return every command with its arguments and options."""
    lines = [
        "# Command line",
        "",
        _generated("lastseat/cli.py"),
        "",
        "`lastseat --version` tells the version.",
        "",
    ]
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)  # noqa: S101 - there are several commands, which makes it one
    for name, command in group.commands.items():
        lines += [
            f"## `lastseat {name}`",
            "",
            (command.help or "").replace("[bold]", "`").replace("[/bold]", "`"),
            "",
        ]
        if command.params:
            lines += [
                *_table(
                    ("argument or option", "what it does", "default", "variable"),
                    map(_parameter, command.params),
                ),
                "",
            ]
    return _page(lines)


def _parameter(parameter: Any) -> Sequence[str]:
    """Return the row of one argument or option; its class is the framework's own business."""
    spelled = (
        [*parameter.opts, *parameter.secondary_opts]
        if parameter.param_type_name == "option"
        else [f"{parameter.metavar}{'...' if parameter.nargs == -1 else ''}"]
    )
    return (
        _code(spelled),
        parameter.help or "",
        _code(_default(parameter)),
        _code([parameter.envvar]) if parameter.envvar else "",
    )


def _default(parameter: Any) -> list[str]:
    """Return what is taken where nothing is said, as it would be typed; nothing for a switch that is off."""
    if parameter.default is None or parameter.default is False:
        return []
    return [parameter.opts[0] if parameter.default is True else str(parameter.default)]


def _generated(source: str) -> str:
    return f"Generated from `{source}` by `make docs`."


def _reports(names: Iterable[str]) -> str:
    """Link public reports, `owner/repo#number`, to where they stand."""
    linked = []
    for name in names:
        repository, _, number = name.partition("#")
        linked.append(f"[{name}](https://github.com/{repository}/issues/{number})")
    return ", ".join(linked)


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [[cell.replace("|", r"\|") for cell in row] for row in rows]
    return [f"| {' | '.join(line)} |" for line in (head, ["---"] * len(head), *cells)]


def _page(lines: Sequence[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"


def write(folder: Path = FOLDER) -> None:
    """Write every page, and remove what is generated no more."""
    folder.mkdir(parents=True, exist_ok=True)
    generated = pages()
    for stale in set(folder.iterdir()) - {folder / name for name in {*generated, *MEASURED}}:
        stale.unlink()
    for name, text in generated.items():
        (folder / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"{len(generated)} pages written to {folder}\n")


if __name__ == "__main__":
    write()
