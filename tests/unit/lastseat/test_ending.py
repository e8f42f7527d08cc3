"""A mistake of the user's ends in one sentence and a code of its own; a mistake of ours keeps its traceback."""

from __future__ import annotations

import errno
import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from lastseat.console import screen
from lastseat.ending import INTERRUPTED, UNHEARD, ended_well
from lastseat.errors import ExitCode, LabError, UsageError


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (UsageError("no such thing", remedy="name another"), ExitCode.USAGE, "name another"),
        (LabError("it fell over", log_tail="last words"), ExitCode.LAB_FAILED, "last words"),
        (KeyboardInterrupt(), INTERRUPTED, "Interrupted"),
        (OSError(errno.ENOSPC, "No space left on device", "/runs/x"), ExitCode.LAB_FAILED, "/runs/x"),
    ],
)
def test_each_way_to_end_has_its_code_and_its_words(
    raised: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as left, ended_well():
        raise raised
    assert left.value.exit_code == code
    told = capsys.readouterr()
    assert said in told.err
    assert "Traceback" not in told.err
    assert told.out == ""


def test_a_command_that_sets_a_code_leaves_with_it() -> None:
    with pytest.raises(typer.Exit) as left, ended_well() as ending:
        ending.code = ExitCode.INCONCLUSIVE
    assert left.value.exit_code == 3


@pytest.mark.usefixtures("capfd")  # it gives standard output back, which is closed on this way out
def test_a_verdict_that_nobody_heard_does_not_look_valid() -> None:
    with pytest.raises(typer.Exit) as left, ended_well():
        raise BrokenPipeError
    assert left.value.exit_code == UNHEARD


@pytest.mark.parametrize("mistake", [ZeroDivisionError("by zero"), TimeoutError("too late")])
def test_a_mistake_of_ours_keeps_its_traceback_and_does_not_look_like_a_violation(
    mistake: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as left, ended_well():
        raise mistake
    assert left.value.exit_code == ExitCode.LAB_FAILED
    told = capsys.readouterr()
    assert "Traceback" in told.err
    assert f"{type(mistake).__name__}: {mistake}" in told.err
    assert "says nothing about the service" in told.err


LASTSEAT = str(Path(sys.executable).with_name("lastseat"))


def test_a_reader_that_went_away_is_not_told_of_a_violation() -> None:
    """Rich would exit with 1, which says that the service violated an invariant."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as nobody:
        assert (
            subprocess.run([LASTSEAT, "list"], stdout=nobody, timeout=60, check=False).returncode == UNHEARD
        )


def test_a_terminal_without_our_signs_gets_question_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(written, encoding="ascii", write_through=True))
    with pytest.raises(typer.Exit) as left, ended_well():
        screen().print("✓ it held")
    assert left.value.exit_code == ExitCode.VALID
    assert written.getvalue() == b"? it held\n"
