"""Run folders are never shared, and a folder that is none is named as such."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from lastseat import folder
from lastseat.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_two_runs_of_one_second_get_folders_of_their_own(tmp_path: Path) -> None:
    made = {folder.create(tmp_path, "rush") for _ in range(5)}
    assert len(made) == 5
    assert all((each / "logs").is_dir() for each in made)


def test_latest_moves_to_the_newest_run(tmp_path: Path) -> None:
    first, second = folder.create(tmp_path, "rush"), folder.create(tmp_path, "rush")
    folder.point_latest(tmp_path, first)
    folder.point_latest(tmp_path, second)
    assert (tmp_path / "latest").resolve() == second
    assert not (tmp_path / "latest").readlink().is_absolute(), "a moved runs/ must keep its latest"


def test_a_file_in_the_way_is_a_mistake_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "runs").write_text("not a folder")
    with pytest.raises(UsageError, match="cannot be made") as refused:
        folder.create(tmp_path / "runs", "rush")
    assert "--runs-dir" in refused.value.remedy


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run folder"):
        folder.find(tmp_path / "nowhere")


def test_the_parent_of_runs_is_not_taken_for_a_run(tmp_path: Path) -> None:
    folder.create(tmp_path, "rush")
    with pytest.raises(UsageError, match=r"no scenario\.json"):
        folder.find(tmp_path)


def test_a_link_that_leads_to_itself_is_named(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError, match=r"no run folder .*loop"):
        folder.find(tmp_path / "loop")
