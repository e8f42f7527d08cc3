"""The console that a command prints on: standard output, in colour only where that suits it."""

from __future__ import annotations

from rich.console import Console


def screen() -> Console:
    """Return the console of standard output; NO_COLOR and pipes are honoured by Rich."""
    return Console(highlight=False)
