"""A table that nobody will read any more makes room for others, and is made again for whoever asks after all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import duckdb
import pytest

from checker import mapping, recipes
from checker.brief import read_brief
from checker.evidence import DERIVED, Evidence, open_evidence
from checker.invariants import load
from checker.judge import check
from checker.verdict import Judgement
from tests.oracle.by_hand.oversold import oversold
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


def test_what_will_be_read_stays_while_others_are_made(evidence: Evidence) -> None:
    evidence.expect(["FROM claims"])
    evidence.prepare("FROM claims")
    evidence.expect(["FROM claims"])
    evidence.prepare("FROM transactions")
    assert "main.claims" in _there(evidence)
    assert "main.claim_images" not in _there(evidence)


def test_what_is_asked_for_stays_until_somebody_says_anew_what_will_be_read(evidence: Evidence) -> None:
    evidence.expect(["FROM operations"])
    for name in ("claims", "transactions", "operation_commits"):
        evidence.prepare(f"FROM {name}")
    assert {"main.claims", "main.transactions", "main.operation_commits"} <= _there(evidence)


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


@pytest.mark.parametrize("name", [recipe.name for recipe in recipes.derived(DERIVED)])
def test_each_derived_table_can_be_read_under_a_name_that_cannot_be_seen(
    evidence: Evidence, name: str
) -> None:
    evidence.expect(["FROM operations"])
    assert evidence.rows(f"SELECT count(*) >= 0 FROM query_table('{name[:3]}' || '{name[3:]}')") == [(True,)]


def test_what_is_wrong_with_a_query_is_told_though_much_was_given_back(evidence: Evidence) -> None:
    evidence.expect(["FROM operations"])
    with pytest.raises(duckdb.BinderException, match="nonsense"):
        evidence.rows("SELECT nonsense FROM operations")
    assert _there(evidence).isdisjoint({"main.occupancy", "trail.holds"})


def test_a_verdict_is_the_same_whatever_is_given_back(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_little = check(told)
    monkeypatch.setattr(recipes, "KEPT_ROWS_MAX", 1_000_000)
    assert with_little == check(told)


def test_a_violation_is_told_as_ever(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = oversold(run)
    with_little = check(folder)
    assert with_little.judgement is Judgement.INVALID
    assert any(finding.witness for finding in with_little.findings)
    monkeypatch.setattr(recipes, "KEPT_ROWS_MAX", 1_000_000)
    assert with_little == check(folder)


def test_what_is_dropped_is_the_table_that_was_made_and_none_of_its_name(evidence: Evidence) -> None:
    evidence.prepare("FROM claims")
    evidence.bare.execute("CREATE TEMP TABLE claims AS SELECT 1 AS one")
    evidence.expect(["FROM operations"])
    of_that_name = "SELECT temporary FROM duckdb_tables() WHERE table_name = 'claims'"
    assert evidence.bare.execute(of_that_name).fetchall() == [(True,)]


def test_who_asks_duckdb_itself_may_read_every_table() -> None:
    assert "*" in recipes.read_by("evidence.connection.execute('FROM ' + name)")


_FOLDED: Final = (
    "SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'commits' ORDER BY ALL"
)


def _commits(folder: Path) -> tuple[dict[str, str], dict[str, list[tuple[object, ...]]]]:
    """Of what kind each table of the commits is, and all that it holds."""
    with open_evidence(folder, read_brief(folder)) as evidence:
        kinds = dict(evidence.rows(_FOLDED))
        return kinds, {name: evidence.rows(f"SELECT * FROM commits.{name} ORDER BY ALL") for name in kinds}


def test_where_no_commit_changed_a_row_twice_the_trail_is_what_folding_it_gives(
    told: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds, seen = _commits(told)
    assert "VIEW" in kinds.values()
    monkeypatch.setattr(mapping, "_TWICE", "SELECT 1 WHERE '{name}' <> ''")
    kinds, folded = _commits(told)
    assert set(kinds.values()) == {"BASE TABLE"}
    assert folded == seen


def test_several_rows_that_change_in_one_commit_are_all_there(run: Run) -> None:
    run.resource("r", capacity=3)
    run.commit(10, run.held("h1", "r"), run.held("h2", "r"))
    kinds, seen = _commits(run.write())
    assert kinds["holds"] == "VIEW"
    assert len(seen["holds"]) == 2


def test_findings_come_in_the_order_in_which_they_were_asked_for(run: Run) -> None:
    names = tuple(sorted(load(), key=lambda name: name[::-1]))
    run.given(invariants=names)
    run.resource("r", capacity=1)
    assert tuple(finding.invariant for finding in run.verdict().findings) == names
