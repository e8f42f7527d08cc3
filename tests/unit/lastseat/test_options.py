"""What cannot be meant is refused where it was typed, in words of our own, before anything starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from lastseat.cli import app
from lastseat.errors import ExitCode
from lastseat.options import Until, _until

if TYPE_CHECKING:
    from pathlib import Path


def refusal(*words: str) -> str:
    ended = CliRunner().invoke(app, list(words), env={"COLUMNS": "300"})
    assert ended.exit_code == ExitCode.USAGE
    return ended.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--until", "nonsense"), "'nonsense' is none of never, violated, inconclusive, failed."),
        (("--profile", "huge"), "'huge' is none of smoke, full."),
        (("-k", ""), "an empty pattern"),
        (("-k", " "), "an empty pattern"),
    ],
)
def test_what_is_none_of_them_is_refused_in_our_words(words: tuple[str, ...], said: str) -> None:
    told = refusal("run", *words)
    assert said in told
    assert "Value error" not in told


def test_arguments_are_spelled_once_in_the_usage() -> None:
    told = CliRunner().invoke(app, ["run", "--help"], env={"COLUMNS": "300"}).output
    assert "lastseat run [OPTIONS] [SCENARIO]..." in told


def test_a_page_that_could_not_be_written_is_refused_before_the_matrix_is_played(tmp_path: Path) -> None:
    assert "there is no folder" in refusal(
        "mutants", "--markdown", str(tmp_path / "nowhere" / "x.md"), "--runs-dir", str(tmp_path)
    )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("spelled", "meant"),
    [("violated", Until.INVALID), ("invalid", Until.INVALID), ("unknown", Until.INCONCLUSIVE)],
)
def test_what_ends_repeats_may_be_said_in_the_words_of_the_verdict(spelled: str, meant: Until) -> None:
    assert _until(spelled) is meant
