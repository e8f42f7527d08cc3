"""Where runs cannot be kept, that is told before anything starts or is made, with what to do about it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lastseat import room
from lastseat.cli import app
from lastseat.doctor import examine
from lastseat.errors import ExitCode, LabError, UsageError


@pytest.mark.parametrize("command", [("run", "last_seat_race"), ("mutants", "oversell-read-write"), ("up",)])
def test_a_full_disk_is_told_first_and_leaves_nothing(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "DISK_BYTES_MIN", 1 << 80)
    runs = tmp_path / "runs"
    ended = CliRunner().invoke(app, [*command, "--runs-dir", str(runs)])
    assert ended.exit_code == ExitCode.LAB_FAILED
    assert f"where: {runs}\n" in ended.output
    assert "--runs-dir" in ended.output
    assert not runs.exists()


def test_for_the_servers_another_remedy_helps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "keeps", lambda _runs: tmp_path)
    monkeypatch.setattr(room, "DISK_BYTES_MIN", 1 << 80)
    with pytest.raises(LabError, match="TMPDIR"):
        room.refuse_without(tmp_path)


def test_a_file_is_no_folder_for_runs() -> None:
    with pytest.raises(UsageError, match="/dev/null is no folder"):
        room.refuse_without(Path("/dev/null"))
    found = next(check for check in examine(Path("/dev/null")) if check.name == "runs folder")
    assert (found.ok, "is no folder" in found.detail, "--runs-dir" in found.remedy) == (False, True, True)


def test_a_folder_that_may_not_be_written_is_told_as_such(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*, dir: Path) -> None:  # noqa: A002 - its name there
        raise PermissionError(13, "Permission denied", dir / "tmp1x2y3z")

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    with pytest.raises(UsageError, match=r"cannot be written [(]Permission denied[)]") as told:
        room.keeps(tmp_path / "runs")
    assert "tmp1x2y3z" not in str(told.value)


def test_prune_tells_a_folder_that_is_not_there_and_refuses_a_file(tmp_path: Path) -> None:
    missing = CliRunner().invoke(app, ["prune", "--runs-dir", str(tmp_path / "nowhere")])
    assert (missing.exit_code, "There is no folder" in missing.output) == (ExitCode.VALID, True)
    assert CliRunner().invoke(app, ["prune", "--runs-dir", "/dev/null"]).exit_code == ExitCode.USAGE
