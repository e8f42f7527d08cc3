"""Whatever a function of somebody's own does to the tables, the built-in invariants find what they find without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import pytest

from checker import asking
from checker.invariants import InvariantError, load
from checker.judge import check
from checker.verdict import Judgement
from tests.oracle.by_hand.oversold import oversold

if TYPE_CHECKING:
    from pathlib import Path

    from checker.verdict import Verdict
    from tests.oracle.by_hand.run import Run


def _own(tmp_path: Path, files: dict[str, str]) -> Path:
    """Write a folder of invariants of somebody's own."""
    own = tmp_path / "own"
    own.mkdir()
    for name, text in files.items():
        (own / name).write_text(text)
    return own


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
    own = _own(
        tmp_path, {"a_shadow.py": _SHADOWING.format(name=name), "z_counts.sql": _COUNTS.format(name=name)}
    )
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
    own = _own(tmp_path, {"a_ruthless_one.py": _RUTHLESS})
    folder = oversold(run)
    by_itself = {finding.invariant: finding for finding in check(folder).findings}
    beside = {finding.invariant: finding for finding in check(folder, [own]).findings}
    assert beside.pop("a_ruthless_one").judgement is Judgement.VALID
    assert beside == by_itself


_WHATEVER: Final = """\
# name: whatever
# sentence: A function does what it likes.
# needs: trail
# rests on: nothing
# catches: nothing

import sys


def judge(evidence):
    {body}
"""


def _beside(run: Run, tmp_path: Path, body: str) -> tuple[Verdict, Verdict]:
    """Return the verdict without a function of somebody's own, and with it."""
    own = _own(tmp_path, {"whatever.py": _WHATEVER.format(body=body)})
    folder = oversold(run)
    return check(folder), check(folder, [own])


@pytest.mark.parametrize(
    "body",
    [
        "sys.exit(0)",
        "return None",
        "return 'many', [1, 2]",
        "return 1, ['a row']",
        "return -1, []",
        "evidence.bare.close(); return 1, []",
        "evidence.bare.execute('BEGIN'); evidence.bare.execute('FROM nonsense')",
        "evidence.bare.execute('BEGIN'); evidence.bare.execute('DROP TABLE nonsense')",
        "raise KeyError(1)",
    ],
)
def test_a_function_that_fails_is_unknown_and_the_others_are_as_ever(
    run: Run, tmp_path: Path, body: str
) -> None:
    alone, beside = _beside(run, tmp_path, body)
    *others, own = beside.findings
    assert tuple(others) == alone.findings
    assert (own.invariant, own.judgement) == ("whatever", Judgement.UNKNOWN)
    assert (own.reason or "").startswith("it could not be judged: ")
    assert beside.judgement is Judgement.INVALID


@pytest.mark.parametrize(
    "body",
    [
        "evidence.bare.execute('CREATE OR REPLACE TEMP VIEW changes AS SELECT 1 AS a'); return 1, []",
        "evidence.bare.execute('CREATE OR REPLACE TEMP VIEW operations AS SELECT 1 AS a'); return 1, []",
        "evidence.connection.execute('DROP TABLE breakages'); return 1, []",
        "evidence.bare.execute('BEGIN'); evidence.bare.execute('CREATE TABLE x AS SELECT 1'); return 1, []",
    ],
)
def test_whatever_a_function_leaves_behind_all_else_is_told_as_ever(
    run: Run, tmp_path: Path, body: str
) -> None:
    alone, beside = _beside(run, tmp_path, body)
    assert beside.findings[-1].judgement is Judgement.VALID
    assert msgspec.structs.replace(beside, findings=beside.findings[:-1]) == alone


@pytest.mark.parametrize(
    "body",
    ["evidence.bare.close(); return 1, []", "evidence.connection.execute('DROP TABLE claims'); return 1, []"],
)
def test_what_a_function_breaks_for_the_next_costs_no_built_in_verdict(
    run: Run, tmp_path: Path, body: str
) -> None:
    own = _own(
        tmp_path, {"whatever.py": _WHATEVER.format(body=body), "z_counts.sql": _COUNTS.format(name="claims")}
    )
    folder = oversold(run)
    alone, beside = check(folder), check(folder, [own])
    assert beside.findings[:-2] == alone.findings
    assert (beside.findings[-1].invariant, beside.findings[-1].judgement) == ("z_counts", Judgement.UNKNOWN)


@pytest.mark.parametrize(
    "body",
    [
        "evidence.bare.execute('CREATE TEMP VIEW claims AS SELECT 1 AS one WHERE false'); return 1, []",
        "evidence.bare.execute('BEGIN'); evidence.bare.execute('FROM nonsense')",
    ],
)
def test_what_a_function_leaves_behind_the_next_does_not_meet(run: Run, tmp_path: Path, body: str) -> None:
    own = _own(
        tmp_path, {"whatever.py": _WHATEVER.format(body=body), "z_counts.sql": _COUNTS.format(name="claims")}
    )
    last = check(oversold(run), [own]).findings[-1]
    assert (last.invariant, last.judgement) == ("z_counts", Judgement.VALID)


def test_a_function_without_an_end_is_given_up(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ASK_SECONDS", 1.0)
    _, beside = _beside(run, tmp_path, "while True: pass")
    assert beside.findings[-1].reason == "it could not be judged: it was not done within 1 s"


def test_a_module_that_does_not_load_is_told_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "whatever.py").write_text(
        _WHATEVER.format(body="pass") + "\nraise ValueError('no such luck')\n"
    )
    with pytest.raises(InvariantError, match=r"whatever\.py: it gives no function `judge`: no such luck"):
        load([tmp_path])


def test_a_folder_without_an_invariant_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvariantError, match="there is no invariant in it"):
        load([tmp_path])


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
