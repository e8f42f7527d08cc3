"""Pruning never costs a run that failed, is under way, or cannot be read."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from lastseat.pruning import forgotten, prune, removable

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    return tmp_path


def played(runs: Path, name: str, said: str | None, *, scenario: str = "rush", days_old: float = 0) -> Path:
    folder = runs / scenario / name
    (folder / "logs").mkdir(parents=True)
    if said is not None:
        (folder / "verdict.json").write_text(said)
    then = time.time() - days_old * 86_400
    for part in (folder / "logs", folder):
        os.utime(part, (then, then))
    return folder


VALID, INVALID, UNKNOWN = (f'{{"judgement": "{word}"}}' for word in ("valid", "invalid", "unknown"))


def test_the_newest_stay_and_older_ones_that_passed_go(runs: Path) -> None:
    old, middle, new = (played(runs, f"2026-01-0{day}", VALID) for day in (1, 2, 3))
    assert removable(runs, keep=1) == [old, middle]
    assert removable(runs, keep=3) == []
    assert new.is_dir()


def test_newest_counts_over_all_scenarios(runs: Path) -> None:
    old = played(runs, "2026-01-01", VALID, scenario="rush")
    played(runs, "2026-01-02", VALID, scenario="outage")
    assert removable(runs, keep=1) == [old]


@pytest.mark.parametrize("said", [INVALID, UNKNOWN, "not json", "{}"])
def test_what_did_not_pass_stays(runs: Path, said: str) -> None:
    played(runs, "2026-01-01", said, days_old=90)
    assert removable(runs, keep=0) == []


def test_a_run_without_a_verdict_goes_only_when_it_cannot_be_under_way(runs: Path) -> None:
    played(runs, "2026-01-01", None)
    dead = played(runs, "2026-01-02", None, days_old=2)
    assert removable(runs, keep=0) == [dead]


def test_links_and_foreign_folders_are_left_alone(runs: Path) -> None:
    target = played(runs, "2026-01-01", VALID)
    (runs / "latest").symlink_to(target)
    (runs / "notes").mkdir()
    (runs / "notes" / "mine").mkdir()
    assert removable(runs, keep=0) == [target]


def test_no_runs_are_no_mistake(runs: Path) -> None:
    assert removable(runs / "nowhere", keep=1) == []


def test_what_labs_left_that_were_only_up_goes_after_a_day(runs: Path) -> None:
    old = played(runs, "2026-01-01T00-00-00Z", None, scenario="up", days_old=2)
    played(runs, "2026-01-03T00-00-00Z", None, scenario="up")
    assert forgotten(runs) == [old]
    assert removable(runs, keep=0) == []


def test_a_lab_that_still_writes_its_logs_is_up(runs: Path) -> None:
    folder = played(runs, "2026-01-01T00-00-00Z", None, scenario="up", days_old=2)
    (folder / "logs" / "postgres.log").write_text("checkpoint")
    os.utime(folder, (0, 0))
    assert forgotten(runs) == []


def test_labs_that_were_up_take_no_room_from_runs_that_stay(runs: Path) -> None:
    played(runs, "2026-01-01T00-00-00Z", VALID)
    played(runs, "2026-01-02T00-00-00Z", None, scenario="up", days_old=2)
    assert removable(runs, keep=1) == []


def test_the_folder_of_a_scenario_goes_with_its_last_run(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played(runs, "2026-01-01T00-00-00Z", VALID)
    played(runs, "2026-01-01T00-00-00Z", INVALID, scenario="outage")
    prune(runs, keep=0)
    assert sorted(path.name for path in runs.iterdir()) == ["outage", "rush"], (
        "a run may be about to begin there"
    )
    os.utime(runs / "rush", (0, 0))
    prune(runs, keep=0)
    assert [path.name for path in runs.iterdir()] == ["outage"]
    assert "rush, which was empty" in capsys.readouterr().out


def planted(runs: Path, bug: str, name: str, said: str | None = None, **more: float) -> Path:
    told = f'{{"judgement": "invalid", "mutant": "{bug}"}}' if said is None else said
    return played(runs / "mutants", name, told, scenario=bug, **more)


def test_of_planted_bugs_only_the_newest_runs_stay(runs: Path) -> None:
    old = planted(runs, "oversell", "2026-01-01T00-00-00Z")
    played(runs / "mutants", "2026-01-01T00-00-00Z", INVALID)  # a control that raised a false alarm
    planted(runs, "drift", "2026-01-02T00-00-00Z")
    kept = played(runs, "2026-01-01T00-00-00Z", INVALID)
    assert removable(runs, keep=1) == [old]
    assert kept.is_dir()


def test_proofs_take_no_room_from_runs_that_stay(runs: Path) -> None:
    played(runs, "2026-01-01T00-00-00Z", VALID)
    planted(runs, "oversell", "2026-01-02T00-00-00Z")
    assert removable(runs, keep=1) == []


def test_a_planted_bug_that_somebody_plays_by_hand_stays_as_any_run_that_failed(runs: Path) -> None:
    played(runs, "2026-01-01T00-00-00Z", '{"judgement": "invalid", "mutant": "oversell"}')
    assert removable(runs, keep=0) == []


def test_a_proof_under_way_and_one_that_cannot_be_read_stay(runs: Path) -> None:
    played(runs / "mutants", "2026-01-01T00-00-00Z", None, scenario="oversell")
    planted(runs, "drift", "2026-01-02T00-00-00Z", "not json", days_old=2)
    assert removable(runs, keep=0) == []


def test_the_folder_of_a_planted_bug_goes_with_its_last_run(runs: Path) -> None:
    planted(runs, "oversell", "2026-01-01T00-00-00Z")
    prune(runs, keep=0)
    os.utime(runs / "mutants" / "oversell", (0, 0))
    prune(runs, keep=0)
    assert not (runs / "mutants" / "oversell").exists()
