"""A verdict is computed again from the folder, whatever has become of the one that was written there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from checker.errors import NoRoomError
from checker.verdict import Finding, Judgement, Verdict
from lastseat import rejudging
from lastseat.agreement import compare
from lastseat.errors import EvidenceRefused, ExitCode, UsageError
from lastseat.rejudging import check_again, is_concluded, report_again, write_verdict

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

FOUND = Finding(
    invariant="never_late",
    group="g",
    sentence="",
    judgement=Judgement.INVALID,
    looked_at=1,
    count=1,
    sql_hash="old",
)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _rubbish(path: Path) -> None:
    path.write_text("{")


def test_the_same_verdict_agrees(tmp_path: Path) -> None:
    write_verdict(tmp_path, VERDICT)
    agreement = compare(tmp_path, VERDICT)
    assert "agrees" in agreement.words
    assert agreement.trusted


@pytest.fixture
def sealed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that was judged, whose evidence says VERDICT."""
    (tmp_path / "scenario.json").write_text("{}")
    (tmp_path / "seal.json").write_text("{}")
    write_verdict(tmp_path, VERDICT)
    monkeypatch.setattr(rejudging, "check", lambda _folder, _invariants: VERDICT)
    return tmp_path


@pytest.mark.parametrize("spoil", [_rubbish, _loop, lambda path: path.mkdir()])
def test_a_written_verdict_that_is_broken_ends_a_check_with_a_failure(
    sealed: Path, spoil: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    (sealed / "verdict.json").unlink()
    spoil(sealed / "verdict.json")
    assert check_again(sealed, ()) is ExitCode.LAB_FAILED
    assert "verdict.json cannot be read, so nothing was compared" in capsys.readouterr().err


def test_a_written_verdict_that_differs_for_no_reason_of_a_rule_ends_a_check_with_a_failure(
    sealed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_verdict(sealed, replace(VERDICT, judgement=Judgement.INVALID))
    assert check_again(sealed, ()) is ExitCode.LAB_FAILED
    assert "which says invalid.\n  No rule has changed" in capsys.readouterr().err


def test_a_written_verdict_that_is_missing_is_only_said(
    sealed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (sealed / "verdict.json").unlink()
    assert check_again(sealed, ()) is ExitCode.VALID
    assert "no verdict.json to compare with" in capsys.readouterr().out


def test_a_rule_that_has_changed_since_is_a_reason_to_differ(tmp_path: Path) -> None:
    write_verdict(tmp_path, replace(VERDICT, judgement=Judgement.INVALID, findings=(FOUND,)))
    agreement = compare(tmp_path, replace(VERDICT, findings=(replace(FOUND, sql_hash="new"),)))
    assert agreement.trusted
    assert "These rules have changed since: never_late." in agreement.words


def test_invariants_of_ones_own_that_only_one_of_the_two_asked_for_are_no_difference(tmp_path: Path) -> None:
    with_own = replace(VERDICT, judgement=Judgement.INVALID, findings=(FOUND,), reasons=("late",))
    write_verdict(tmp_path, with_own)
    assert "also asked for never_late" in compare(tmp_path, VERDICT).words
    write_verdict(tmp_path, VERDICT)
    assert "did not ask for never_late" in compare(tmp_path, with_own).words
    assert not compare(tmp_path, replace(with_own, operations=1)).trusted


def test_a_folder_without_its_seal_is_judged_only_where_that_is_asked_for(
    sealed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (sealed / "seal.json").unlink()
    brief = SimpleNamespace(schema_version=rejudging.SCHEMA_VERSION)
    monkeypatch.setattr(rejudging, "read_brief", lambda _folder: brief)
    for again in (lambda: check_again(sealed, ()), lambda: report_again(sealed)):
        with pytest.raises(EvidenceRefused, match=r"seal[.]json(?s:.*)is gone") as refused:
            again()
        assert refused.value.exit_code is ExitCode.LAB_FAILED
    assert check_again(sealed, (), unsealed=True) is ExitCode.VALID
    assert "nobody can tell whether the evidence is as the run left it" in capsys.readouterr().out


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


def test_changes_that_are_there_are_judged_as_they_are_where_that_is_asked_for(
    unjudged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (unjudged / "changes").mkdir()
    (unjudged / "changes" / "holds.parquet").touch()
    before = sorted(unjudged.rglob("*"))
    monkeypatch.setattr(rejudging, "check", lambda _folder, _invariants: VERDICT)
    assert check_again(unjudged, (), unsealed=True) is ExitCode.VALID
    assert sorted(unjudged.rglob("*")) == before


def test_too_little_room_is_told_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Verdict:
        raise NoRoomError("No space left on device")

    monkeypatch.setattr(rejudging, "check", full)
    with pytest.raises(EvidenceRefused, match=r"cannot be judged here(?s:.*)give more memory, or disk"):
        rejudging.judged(tmp_path, unsealed=True)


def test_what_it_recorded_that_cannot_be_read_is_said_and_nothing_is_sealed(unjudged: Path) -> None:
    for again in (lambda: check_again(unjudged, ()), lambda: report_again(unjudged)):
        with pytest.raises(UsageError, match=r"cannot be judged(?s:.*)Play it again"):
            again()
    assert not (unjudged / "seal.json").exists()


def test_a_run_that_was_not_played_to_its_end_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    with pytest.raises(UsageError, match=r"not played to its end: scenario[.]json, which is written then"):
        check_again(tmp_path, ())
