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


@pytest.fixture
def line(plane: Plane) -> Plane:
    """Somebody stands in line."""
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    return plane
