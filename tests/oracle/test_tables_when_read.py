"""A table of the evidence is made when somebody reads it, by whatever way they name it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from checker.brief import read_brief
from checker.canonical import TABLES
from checker.evidence import DERIVED, open_evidence
from checker.judge import check
from checker.recipes import Recipes, derived
from checker.verdict import Judgement
from tests.oracle.by_hand.story import tell

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oracle.by_hand.plane import Plane
    from tests.oracle.by_hand.run import Run

_THERE = "SELECT count(*) FROM information_schema.tables WHERE table_schema IN ('trail', 'commits', 'state')"


@pytest.fixture
def told(plane: Plane) -> Path:
    """A run in which everything happens."""
    return tell(plane).write()


def test_what_nobody_reads_is_not_made(told: Path) -> None:
    with open_evidence(told, read_brief(told)) as evidence:
        evidence.rows("SELECT count(*) FROM operations -- FROM occupancy")
        assert evidence.bare.execute(_THERE).fetchall() == [(0,)]
        evidence.rows("SELECT count(*) FROM commits.holds")
        assert evidence.bare.execute(_THERE).fetchall() == [(2,)]


@pytest.mark.parametrize("name", [recipe.name for recipe in derived(DERIVED)])
def test_each_derived_table_can_be_the_first_that_is_read(told: Path, name: str) -> None:
    with open_evidence(told, read_brief(told)) as evidence:
        evidence.prepare(f"FROM {name}")
        assert evidence.bare.execute(f"SELECT count(*) FROM {name}").fetchone() is not None


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM OCCUPANCY",
        'SELECT count(*) FROM "occupancy"',
        "SELECT count(*) FROM main.occupancy",
        "SELECT count(*) FROM query_table('occupancy')",
        "SELECT count(*) FROM query_table('occu' || 'pancy')",
        "WITH occupancy AS (FROM occupancy) SELECT count(*) FROM occupancy",
        "SELECT count(*) FROM (SELECT '--') q, occupancy",
    ],
)
def test_a_table_is_there_by_whatever_way_it_is_named(told: Path, query: str) -> None:
    with open_evidence(told, read_brief(told)) as evidence:
        ((count,),) = evidence.rows(query)
    assert count > 0


@pytest.mark.parametrize("name", ["trail.holds", 'Trail . "Holds"', '"trail"."holds"', "memory.trail.holds"])
def test_a_canonical_table_is_there_by_whatever_way_it_is_named(told: Path, name: str) -> None:
    with open_evidence(told, read_brief(told)) as evidence:
        assert evidence.row(f"SELECT count(*) FROM {name}") != (0,)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'state'",
        "SELECT count(*) FROM duckdb_tables() WHERE schema_name = 'state'",
        "SELECT count(*) FROM (SHOW ALL TABLES) WHERE schema = 'state'",
    ],
)
def test_who_asks_which_tables_there_are_is_told_of_all(told: Path, query: str) -> None:
    with open_evidence(told, read_brief(told)) as evidence:
        assert evidence.row(query) == (len(TABLES),)


def test_a_name_that_is_no_table_is_still_an_error(told: Path) -> None:
    with open_evidence(told, read_brief(told)) as evidence, pytest.raises(duckdb.CatalogException):
        evidence.rows("FROM nonsense")


def test_a_name_of_the_program_is_no_table(told: Path) -> None:
    frame: Any = duckdb.sql("SELECT 1").arrow()
    assert frame is not None
    with open_evidence(told, read_brief(told)) as evidence, pytest.raises(duckdb.CatalogException):
        evidence.rows("FROM frame")


def test_ctrl_c_while_a_table_is_made_is_ctrl_c(told: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object, __: str) -> None:
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr(Recipes, "provide", interrupted)
    with open_evidence(told, read_brief(told)) as evidence, pytest.raises(KeyboardInterrupt):
        evidence.rows("SELECT count(*) FROM occupancy")


_RULE = """\
# name: of_my_own
# sentence: There is what was committed.
# needs: trail
# rests on: nothing
# catches: nothing


def judge(evidence):
    return evidence.connection.execute("SELECT count(*) FROM " + "occu" + "pancy").fetchone()[0], []
"""


def test_a_function_of_ones_own_that_asks_duckdb_itself_finds_every_table(run: Run, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "of_my_own.py").write_text(_RULE)
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    (finding,) = (each for each in check(run.write(), [own]).findings if each.invariant == "of_my_own")
    assert (finding.judgement, finding.reason) == (Judgement.VALID, None)
