"""Whatever a function of somebody's own does to the tables, the built-in invariants find what they find without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from checker.judge import check
from checker.verdict import Judgement
from tests.oracle.by_hand.oversold import oversold

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oracle.by_hand.run import Run

_SHADOWING: Final = """\
# name: a_shadow
# sentence: A function sets something aside under a name of ours.
# needs: trail
# rests on: nothing
# catches: nothing


def judge(evidence):
    evidence.rows("CREATE TEMP TABLE {name} AS FROM {name} LIMIT 0")
    return 1, []
"""


@pytest.mark.parametrize("name", ["claims", "occupancy", "made", "steps"])
def test_what_a_function_sets_aside_is_what_nobody_else_is_judged_by(
    run: Run, tmp_path: Path, name: str
) -> None:
    """DuckDB finds a temporary table before any other of its name, and would drop it in the other's place."""
    own = tmp_path / "own"
    own.mkdir()
    (own / "a_shadow.py").write_text(_SHADOWING.format(name=name))
    (own / "z_counts.sql").write_text(_COUNTS.format(name=name))
    folder = oversold(run)
    by_itself = {finding.invariant: finding for finding in check(folder).findings}
    beside = {finding.invariant: finding for finding in check(folder, [own]).findings}
    assert {each: beside[each] for each in by_itself} == by_itself
    assert beside["a_shadow"].judgement is Judgement.VALID
    assert beside["z_counts"].looked_at > 0


_RUTHLESS: Final = """\
# name: a_ruthless_one
# sentence: A function of which nobody can say what it reads empties a table.
# needs: trail
# rests on: nothing
# catches: nothing


def judge(evidence):
    evidence.connection.execute("DELETE FROM occupancy")
    return 1, []
"""


def test_whatever_a_function_does_to_the_tables_the_others_were_asked_before(
    run: Run, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "a_ruthless_one.py").write_text(_RUTHLESS)
    folder = oversold(run)
    by_itself = {finding.invariant: finding for finding in check(folder).findings}
    beside = {finding.invariant: finding for finding in check(folder, [own]).findings}
    assert beside.pop("a_ruthless_one").judgement is Judgement.VALID
    assert beside == by_itself


_COUNTS: Final = """\
-- name: z_counts
-- sentence: There is something.
-- needs: trail
-- rests on: nothing
-- catches: nothing

-- looked at
SELECT count(*) FROM {name};

-- counter-examples
SELECT 1 AS op WHERE false;
"""
