"""Pruning never costs a run that failed, is under way, or cannot be read."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from lastseat.pruning import removable

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
    os.utime(folder, (then, then))
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
