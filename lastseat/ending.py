"""How a command ends: its exit code, and one clear message instead of a traceback for what is not our mistake."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.text import Text

from lastseat.errors import ExitCode, LabError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

INTERRUPTED = 130
"""What shells expect of a program that Ctrl-C ended."""


@dataclass(slots=True)
class Ending:
    """The exit code a command ends with; set by the command."""

    code: int = ExitCode.VALID


@contextmanager
def ended_well() -> Iterator[Ending]:
    """Run a command's body and leave by `typer.Exit`; UsageError, LabError, a full disk and Ctrl-C get a sentence."""
    ending = Ending()
    try:
        yield ending
    except (UsageError, LabError) as told:
        _say(str(told))
        ending.code = told.exit_code
    except KeyboardInterrupt:
        _say("Interrupted; everything that was started has been ended.")
        ending.code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away (`lastseat list | head`): nothing more to say, and not to stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as refused:
        if refused.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EMFILE):
            raise
        where = f" at {refused.filename}" if refused.filename else ""
        _say(
            f"The system refused{where}: {refused.strerror}.\n  Free the disk or the permission, then try again."
        )
        ending.code = ExitCode.LAB_FAILED
    raise typer.Exit(int(ending.code))


def _say(words: str) -> None:
    Console(stderr=True, highlight=False, soft_wrap=True).print(Text.assemble(("error: ", "bold red"), words))
