"""How a command ends: its exit code, and one clear message instead of a traceback for what is not our mistake."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import typer

from lastseat.console import Unheard, say_error, speak_plainly
from lastseat.errors import ExitCode, LabError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_REFUSALS = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EMFILE)
INTERRUPTED = 130
"""What shells expect of a program that Ctrl-C ended."""
UNHEARD = 141
"""What shells expect of a program whose reader went away: a verdict that was not told to the end is not valid."""


@dataclass(slots=True)
class Ending:
    """The exit code a command ends with; set by the command."""

    code: int = ExitCode.VALID


@contextmanager
def ended_well() -> Iterator[Ending]:
    """Run a command's body and leave by `typer.Exit`; UsageError, LabError, a full disk and Ctrl-C get a sentence.

    Whatever else is raised is a mistake of ours and keeps its traceback, but never Python's exit code for it: that is
    1, and 1 says that the service violated an invariant.
    """
    ending = Ending()
    speak_plainly()
    try:
        yield ending
    except (UsageError, LabError) as told:
        say_error(str(told))
        ending.code = told.exit_code
    except KeyboardInterrupt:
        say_error("Interrupted; everything that was started has been ended.")
        ending.code = INTERRUPTED
    except (BrokenPipeError, Unheard):
        # The reader of our output went away (`lastseat list | head`): nothing more to say, and not to stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        ending.code = UNHEARD
    except Exception as refused:  # noqa: BLE001 - the last place that can keep it from looking like a verdict
        ending.code = _failed(refused)
    raise typer.Exit(int(ending.code))


def _failed(failure: Exception) -> int:
    """Say what the system refused, or show the traceback of a mistake of ours."""
    if isinstance(failure, OSError) and failure.errno in _REFUSALS:
        where = f" at {failure.filename}" if failure.filename else ""
        say_error(
            f"The system refused{where}: {failure.strerror}.\n  Free the disk or the permission, then try again."
        )
    else:
        traceback.print_exception(failure)
        say_error("The bench itself has failed, which says nothing about the service.")
    return ExitCode.LAB_FAILED
