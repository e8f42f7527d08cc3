"""Prints what the doctor found, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from lastseat.console import screen
from lastseat.doctor import examine
from lastseat.leftovers import find_leftovers, remove

if TYPE_CHECKING:
    from pathlib import Path


def print_examination(runs: Path) -> bool:
    """Print each check with its remedy where it failed; return whether the lab has all that it needs."""
    console = screen()
    checks = examine(runs)
    for check in checks:
        mark = ("✓ ", "green") if check.ok else ("✗ ", "bold red")
        console.print(Text.assemble("  ", mark, (check.name, "bold"), f"  {check.detail}"), soft_wrap=True)
        if not check.ok and check.remedy:
            console.print(Text(f"      {check.remedy}", style="yellow"), soft_wrap=True)
    bad = [check for check in checks if not check.ok]
    console.print()
    console.print(
        f"{len(bad)} of {len(checks)} need attention." if bad else "Everything that the lab needs is here.",
        style="yellow" if bad else "green",
    )
    return not bad


def clean_up() -> None:
    """Remove what labs that were killed have left behind, and say so; a lab that runs is left alone."""
    console = screen()
    leftovers = find_leftovers()
    for leftover in leftovers:
        done = "removed" if remove(leftover) else "could not be removed"
        console.print(Text(f"  {done}: {leftover.folder}"), soft_wrap=True)
    if not leftovers:
        console.print("  there is nothing to clean up")
