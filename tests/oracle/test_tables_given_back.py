"""A table that nobody will read any more makes room for others, and is made again for whoever asks after all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker import recipes
from checker.brief import read_brief
from checker.evidence import Evidence, open_evidence
from checker.invariants import load
from checker.judge import check
from checker.verdict import Judgement
from tests.oracle.by_hand.story import tell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.oracle.by_hand.plane import Plane
    from tests.oracle.by_hand.run import Run

_THERE = "SELECT schema_name || '.' || table_name FROM duckdb_tables() UNION ALL SELECT schema_name || '.' || view_name FROM duckdb_views()"


@pytest.fixture(autouse=True)
def every_table_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipes, "KEPT_ROWS_MAX", -1)


@pytest.fixture
def told(plane: Plane) -> Path:
    """A run in which everything happens."""
    return tell(plane).write()


@pytest.fixture
def evidence(told: Path) -> Iterator[Evidence]:
    with open_evidence(told, read_brief(told)) as opened:
        yield opened


def _there(evidence: Evidence) -> set[str]:
    return {name for (name,) in evidence.bare.execute(_THERE).fetchall()}


def test_what_nobody_will_read_is_dropped_and_made_again_for_whoever_asks(evidence: Evidence) -> None:
    before = evidence.rows("SELECT * FROM occupancy ORDER BY ALL")
    evidence.expect(["FROM transactions"])
    evidence.prepare("FROM transactions")
    assert "main.transactions" in _there(evidence)
    assert _there(evidence).isdisjoint({"main.occupancy", "main.claims", "trail.holds"})
    assert evidence.rows("SELECT * FROM occupancy ORDER BY ALL") == before != []


def test_until_somebody_says_what_will_be_read_everything_stays(evidence: Evidence) -> None:
    evidence.prepare("FROM occupancy")
    evidence.prepare("FROM transactions")
    assert {"main.occupancy", "main.claims", "trail.holds"} <= _there(evidence)


def test_what_is_still_needed_to_make_a_table_stays(evidence: Evidence) -> None:
    evidence.expect(["FROM occupancy"])
    evidence.prepare("FROM claims")
    assert "commits.resources" not in _there(evidence)
    evidence.prepare("FROM operations")
    assert "main.claims" in _there(evidence)


def test_a_view_over_what_was_dropped_can_still_be_read(evidence: Evidence) -> None:
    before = evidence.rows("SELECT * FROM ended ORDER BY ALL")
    evidence.expect(["FROM operations"])
    assert "main.ended" in _there(evidence)
    assert "main.steps" not in _there(evidence)
    assert evidence.rows("SELECT * FROM ended ORDER BY ALL") == before != []


def test_a_view_keeps_what_it_reads(evidence: Evidence) -> None:
    evidence.prepare("FROM ended")
    evidence.expect(["FROM ended"])
    evidence.prepare("FROM operations")
    assert "main.steps" in _there(evidence)


def test_whoever_reads_a_table_under_a_name_that_cannot_be_seen_finds_it(evidence: Evidence) -> None:
    evidence.prepare("FROM occupancy")
    evidence.expect(["FROM operations"])
    assert evidence.rows("SELECT count(*) > 0 FROM query_table('occu' || 'pancy')") == [(True,)]


def test_a_verdict_is_the_same_whatever_is_given_back(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_little = check(told)
    monkeypatch.setattr(recipes, "KEPT_ROWS_MAX", 1_000_000)
    assert with_little == check(told)


def test_a_violation_is_told_as_ever(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run.given(invariants=tuple(load()))
    run.resource("r", capacity=1)
    for number, at in enumerate((10, 20), start=1):
        run.sold(f"h{number}", "r", sent=at, commit=at + 2, done=at + 3, count=1)
    folder = run.write()
    with_little = check(folder)
    assert with_little.judgement is Judgement.INVALID
    assert any(finding.witness for finding in with_little.findings)
    monkeypatch.setattr(recipes, "KEPT_ROWS_MAX", 1_000_000)
    assert with_little == check(folder)


def test_findings_come_in_the_order_in_which_they_were_asked_for(run: Run) -> None:
    names = tuple(sorted(load(), key=lambda name: name[::-1]))
    run.given(invariants=names)
    run.resource("r", capacity=1)
    assert tuple(finding.invariant for finding in run.verdict().findings) == names
