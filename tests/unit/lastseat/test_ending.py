"""A mistake of the user's ends in one sentence and a code of its own; a mistake of ours keeps its traceback."""

from __future__ import annotations

import errno

import pytest
import typer

from lastseat.ending import INTERRUPTED, ended_well
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


def test_a_mistake_of_ours_is_not_dressed_up_as_one_of_the_users() -> None:
    with pytest.raises(ZeroDivisionError), ended_well():
        _ = 1 / 0
