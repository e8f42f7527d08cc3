"""What there is to play, to judge, to plant and to break; found where each of them is defined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from chaos import mutants
from chaos.faults import GRAMMAR, KINDS
from checker.invariants import load
from lastseat.console import screen
from scenarios import registry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console


def print_lists() -> None:
    """Print scenarios, invariants, planted bugs and faults, each by name with its sentence."""
    console = screen()
    stories = ((name, registry.find(name).story) for name in registry.names())
    _print(console, "Scenarios  (lastseat run NAME)", stories)
    _print(console, "Invariants", ((rule.name, rule.sentence) for rule in load().values()))
    planted = (
        (mutant.name, f"{mutant.mechanism} {_caught(mutant)}") for mutant in mutants.discover().values()
    )
    _print(console, "Planted bugs  (--mutant NAME)", planted)
    faults = ((kind, (fault.__doc__ or "").partition("\n")[0]) for kind, fault in KINDS.items())
    _print(console, "Faults  (--fault KIND:WHERE…)", faults)
    console.print(Text(GRAMMAR, style="dim"), soft_wrap=True)


def _caught(mutant: mutants.Mutant) -> str:
    if mutant.harmless:
        return f"Nothing has to catch it: {mutant.harmless}"
    return f"Caught by {', '.join(mutant.caught_by)} in {mutant.scenario}."


def _print(console: Console, title: str, rows: Iterable[tuple[str, str]]) -> None:
    console.print(Text(title, style="bold"), soft_wrap=True)
    if not console.is_terminal:
        for name, words in rows:
            console.print(f"  {name}\t{words}", soft_wrap=True, markup=False)
    else:
        table = Table.grid(padding=(0, 2))
        for name, words in rows:
            table.add_row(Text(f"  {name}", no_wrap=True), Text(words, style="dim"))
        console.print(table)
    console.print()
