"""The consoles that a command prints on: in colour only where that suits them (NO_COLOR, pipes)."""

from __future__ import annotations

import io
import sys
from typing import NoReturn

from rich.console import Console
from rich.text import Text


class Unheard(Exception):  # noqa: N818 - it says what is the case
    """Whoever read our output went away."""


class _Screen(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the command's end how to exit; Rich would with 1, which says that an invariant was violated."""
        raise Unheard


def screen() -> Console:
    """Return the console of standard output."""
    return _Screen(highlight=False)


def speak_plainly() -> None:
    """Let what the terminal's encoding lacks become question marks, not an error in the middle of a verdict."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def say_error(words: str) -> None:
    """Print an error on standard error, whole and without markup."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text.assemble(("error: ", "bold red"), words))
