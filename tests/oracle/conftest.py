"""Evidence written by hand: a run folder without a lab."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.oracle.by_hand.plane import Plane
from tests.oracle.by_hand.run import Run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path / "run")


@pytest.fixture
def plane(tmp_path: Path) -> Plane:
    return Plane(tmp_path / "run")
