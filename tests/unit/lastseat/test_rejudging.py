"""A verdict is computed again from the folder, whatever has become of the one that was written there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement, Verdict
from lastseat import rejudging
from lastseat.errors import ExitCode, UsageError
from lastseat.rejudging import _agreement, check_again, is_concluded, report_again, write_verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VERDICT = Verdict(
    run="r",
    scenario="s",
    story="",
    profile="smoke",
    seed=1,
    target="t",
    command="",
    judgement=Judgement.VALID,
    reasons=(),
    findings=(),
    premises=(),
    operations=0,
    changes=0,
)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _rubbish(path: Path) -> None:
    path.write_text("{")


def test_the_same_verdict_agrees(tmp_path: Path) -> None:
    write_verdict(tmp_path, VERDICT)
    assert "agrees" in _agreement(tmp_path, VERDICT)


@pytest.mark.parametrize("spoil", [_rubbish, _loop, lambda path: path.mkdir()])
def test_a_written_verdict_that_cannot_be_read_is_only_not_compared(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(tmp_path / "verdict.json")
    assert "cannot be read, so nothing was compared" in _agreement(tmp_path, VERDICT)


@pytest.fixture
def unjudged(tmp_path: Path) -> Path:
    """A run that was played to its end, and whose season was broken off before it was judged."""
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / "0.bin").touch()
    (tmp_path / "scenario.json").write_text("{}")
    return tmp_path


def test_a_run_that_was_never_judged_is_concluded_by_a_check(
    unjudged: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rejudging.history, "write_history", lambda folder: (folder / "operations").touch())
    monkeypatch.setattr(rejudging, "check", lambda _folder, _invariants: VERDICT)
    assert not is_concluded(unjudged)
    assert check_again(unjudged, ()) is ExitCode.VALID
    assert is_concluded(unjudged)
    assert {"operations", "seal.json", "verdict.json"} <= {path.name for path in unjudged.iterdir()}
    assert "never judged; its verdict.json was written now" in capsys.readouterr().out
    check_again(unjudged, ())
    assert "agrees with the one in verdict.json" in capsys.readouterr().out


def test_what_it_recorded_that_cannot_be_read_is_said_and_nothing_is_sealed(unjudged: Path) -> None:
    for again in (lambda: check_again(unjudged, ()), lambda: report_again(unjudged)):
        with pytest.raises(UsageError, match=r"cannot be judged(?s:.*)Play it again"):
            again()
    assert not (unjudged / "seal.json").exists()


def test_a_run_that_was_not_played_to_its_end_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    with pytest.raises(UsageError, match=r"not played to its end: scenario[.]json, which is written then"):
        check_again(tmp_path, ())
