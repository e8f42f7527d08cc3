"""Run folders and verdicts made up for the tests of what is written about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.reports.made_up.folder import build
from tests.unit.reports.made_up.race import Recipe
from tests.unit.reports.made_up.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.verdict import Verdict


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., Path]:
    """Return a maker of run folders; its keywords are those of Recipe."""

    def make(name: str = "2026-05-04T12-30-00Z", **wishes: Any) -> Path:
        folder = tmp_path / "last_seat_race" / name
        folder.mkdir(parents=True)
        return build(folder, Recipe(**wishes))

    return make


@pytest.fixture
def make_verdict() -> Callable[..., Verdict]:
    """Return the maker of verdicts."""
    return verdict
