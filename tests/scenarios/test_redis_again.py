"""A service that does not go back to Redis when it is there again is found out, in the run in which it does so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from scenarios import registry
from tests.scenarios.conftest import lastseat

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(240)

STORIES = tuple(name for name in registry.names() if "redis_is_asked_again" in registry.find(name).invariants)
LIVED_THROUGH = tuple(name for name in STORIES if name != "boot_without_redis")
"""Where no node is started anew: one that comes up after Redis has come back has nothing to stay away for."""


@pytest.mark.proof
@pytest.mark.parametrize("name", LIVED_THROUGH)
def test_a_service_that_stays_away_from_redis_violates_it_by_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESERVATION_BREAKER_OPEN_MS", "60000")
    ran = lastseat("run", name, runs=tmp_path)
    assert ran.code == 1, ran.said
    assert "redis_is_asked_again violated" in ran.said
    assert "at the slowest node: never" in (ran.folder / "summary.md").read_text()


@pytest.mark.catalogue
@pytest.mark.parametrize("name", STORIES)
def test_the_healthy_service_is_back_within_two_seconds(name: str, catalogue: dict[str, Any]) -> None:
    summary = (catalogue[name].folder / "summary.md").read_text()
    told = re.search(r"at the slowest node: ([\d.,]+) ms after healing", summary)
    assert told, summary
    assert float(told[1].replace(",", "")) < 2_000
