"""A planted bug is caught by those that it names or not at all, and no failure of the proof looks like a catch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from chaos.mutants import Mutant
from checker import schemas
from checker.brief import Brief, write_brief
from checker.verdict import Finding, Judgement, Verdict, WitnessLine
from lastseat.errors import ExitCode
from lastseat.matrix import Attempt, Control, Fate, Matrix, Row, attempt

if TYPE_CHECKING:
    from pathlib import Path

VALID, INVALID, UNKNOWN = Judgement.VALID, Judgement.INVALID, Judgement.UNKNOWN
T0_NS = 1_000_000_000


def mutant(*caught_by: str, racy: bool = False) -> Mutant:
    return Mutant(
        name="bug",
        mechanism="m",
        section="capacity",
        reports=("a/b#1",),
        scenario="race",
        caught_by=caught_by,
        racy=racy,
    )


def verdict(at_ms: float | None = 2.0, **judgements: Judgement) -> Verdict:
    findings = tuple(
        Finding(
            invariant=name,
            group="",
            sentence="",
            judgement=judgement,
            looked_at=1,
            count=1,
            sql_hash="",
            witness=(WitnessLine(at_ms=1.0, who="w", what="x"), WitnessLine(at_ms=at_ms, who="w", what="y")),
        )
        for name, judgement in judgements.items()
    )
    return Verdict(
        run="r", scenario="race", story="", profile="smoke", seed=1, target="t", command="", judgement=INVALID,
        reasons=(), findings=findings, premises=(), operations=3, changes=0,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run in which operations were sent 0, 1, 2 and 3 ms after t₀, and one never left."""
    brief = Brief(
        run="r", scenario="race", story="", profile="smoke", seed=1, target="t", command="", invariants=(),
        assumptions=(), t0_ns=T0_NS,
    )  # fmt: skip
    write_brief(tmp_path, brief)
    sent = [T0_NS, T0_NS + 1_000_000, T0_NS + 2_000_000, T0_NS + 3_000_000, None]
    columns = {"op": pa.array(range(5), pa.int64()), "sent_ns": pa.array(sent, pa.int64())}
    rest = {field.name: pa.nulls(5, field.type) for field in schemas.OPERATIONS if field.name not in columns}
    table = pa.table({**columns, **rest}).select(schemas.OPERATIONS.names)
    pq.write_table(table, tmp_path / "operations.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("judgements", "fate"),
    [
        ({"a": INVALID, "b": INVALID, "c": VALID}, Fate.CAUGHT),
        ({"a": INVALID, "b": INVALID, "c": UNKNOWN}, Fate.CAUGHT),
        ({"a": INVALID, "b": VALID, "c": INVALID}, Fate.PARTLY),
        ({"a": INVALID, "b": UNKNOWN}, Fate.UNPROVEN),
        ({"a": UNKNOWN, "b": UNKNOWN}, Fate.UNPROVEN),
        ({"a": VALID, "b": UNKNOWN}, Fate.SURVIVED),
        ({"a": VALID, "b": UNKNOWN, "c": INVALID}, Fate.BY_ANOTHER),
        ({"a": VALID, "b": VALID, "c": INVALID}, Fate.BY_ANOTHER),
        ({"a": VALID, "b": VALID, "c": VALID}, Fate.SURVIVED),
        ({"a": VALID, "b": VALID, "c": UNKNOWN}, Fate.SURVIVED),
        ({"c": VALID}, Fate.SURVIVED),
    ],
)
def test_each_invariant_that_a_bug_names_has_to_find_it(
    judgements: dict[str, Judgement], fate: Fate, folder: Path
) -> None:
    assert attempt(mutant("a", "b"), verdict(**judgements), folder).fate is fate


def test_operations_are_counted_until_the_witness_is_complete(folder: Path) -> None:
    caught = attempt(mutant("a"), verdict(at_ms=2.0, a=INVALID), folder)
    assert caught.operations == 3


def test_what_only_shows_at_rest_has_no_number_of_operations(folder: Path) -> None:
    assert attempt(mutant("a"), verdict(at_ms=None, a=INVALID), folder).operations is None


@pytest.mark.parametrize(
    ("racy", "caught", "runs", "fate"),
    [
        (True, 99, 100, Fate.CAUGHT),
        (True, 98, 100, Fate.SURVIVED),
        (True, 0, 1, Fate.SURVIVED),
        (False, 99, 100, Fate.SURVIVED),
        (False, 10, 10, Fate.CAUGHT),
    ],
)
def test_a_racy_bug_may_get_away_once_in_a_hundred_runs_and_no_other(
    racy: bool, caught: int, runs: int, fate: Fate
) -> None:
    attempts = [Attempt(fate=Fate.CAUGHT)] * caught + [Attempt(fate=Fate.SURVIVED)] * (runs - caught)
    row = Row(mutant=mutant("a", racy=racy), attempts=tuple(attempts))
    assert row.fate is fate
    assert row.caught == caught


@pytest.mark.parametrize(
    ("fates", "control", "code"),
    [
        ([Fate.CAUGHT], VALID, ExitCode.VALID),
        ([Fate.CAUGHT, Fate.SURVIVED], VALID, ExitCode.VIOLATED),
        ([Fate.BY_ANOTHER], VALID, ExitCode.VIOLATED),
        ([Fate.PARTLY], VALID, ExitCode.VIOLATED),
        ([Fate.CAUGHT], INVALID, ExitCode.VIOLATED),
        ([Fate.CAUGHT], UNKNOWN, ExitCode.INCONCLUSIVE),
        ([Fate.UNPROVEN], VALID, ExitCode.INCONCLUSIVE),
        ([Fate.FAILED, Fate.UNPROVEN], VALID, ExitCode.LAB_FAILED),
        ([Fate.CAUGHT], None, ExitCode.LAB_FAILED),
        ([Fate.FAILED, Fate.SURVIVED], UNKNOWN, ExitCode.VIOLATED),
    ],
)
def test_a_bug_that_got_away_and_a_false_alarm_outrank_what_proved_nothing(
    fates: list[Fate], control: Judgement | None, code: ExitCode
) -> None:
    rows = tuple(Row(mutant=mutant("a"), attempts=(Attempt(fate=fate),)) for fate in fates)
    assert Matrix(rows=rows, controls=(Control(scenario="race", judgement=control),)).code is code


def test_a_matrix_of_nothing_proves_nothing() -> None:
    assert Matrix(rows=(), controls=()).code is ExitCode.INCONCLUSIVE


def test_the_matrix_says_which_other_caught_it_and_who_should_have() -> None:
    by_another = Row(mutant=mutant("a"), attempts=(Attempt(fate=Fate.BY_ANOTHER, found_by=("c", "d")),))
    assert by_another.remark == "only by c, d"
    partly = Row(mutant=mutant("a", "b"), attempts=(Attempt(fate=Fate.PARTLY, found_by=("a", "c")),))
    assert partly.remark == "not by b"
    unproven = Row(mutant=mutant("a"), attempts=(Attempt(fate=Fate.UNPROVEN, unknown=("a",)),))
    assert unproven.remark == "a could not be judged"
    assert Row(mutant=mutant("a"), attempts=(Attempt(fate=Fate.SURVIVED),)).remark == "survived"


def test_one_that_looked_and_saw_nothing_let_the_bug_pass_beside_one_that_found_it(folder: Path) -> None:
    judged = verdict(a=INVALID, b=VALID, c=UNKNOWN)
    assert attempt(mutant("a", "b", "c"), judged, folder).fate is Fate.PARTLY


def test_what_was_found_is_told_and_what_else_was_violated_is_no_failure(folder: Path) -> None:
    row = Row(
        mutant=mutant("b", "a"),
        attempts=(attempt(mutant("b", "a"), verdict(d=INVALID, a=INVALID, b=INVALID), folder),),
    )
    assert (row.found_by, row.besides) == (("b", "a"), ("d",))
    assert row.fate is Fate.CAUGHT
    got_away = Row(mutant=mutant("a"), attempts=(Attempt(fate=Fate.SURVIVED),))
    assert (got_away.found_by, got_away.besides) == ((), ())
