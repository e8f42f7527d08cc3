"""The consoles that a command prints on: in colour only where that suits them (NO_COLOR, pipes)."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text


def screen() -> Console:
    """Return the console of standard output."""
    return Console(highlight=False)


def say_error(words: str) -> None:
    """Print an error on standard error, whole and without markup."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text.assemble(("error: ", "bold red"), words))
