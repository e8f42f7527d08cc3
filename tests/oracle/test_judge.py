"""How premises and findings become a verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import msgspec
import pytest

from checker import asking, judge
from checker.assumptions import happened
from checker.evidence import EvidenceError
from checker.judge import check
from checker.verdict import Finding, Judgement

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oracle.by_hand.run import Run

OWN = """\
-- name: {name}
-- sentence: Something of our own is true.
-- needs: {needs}
-- rests on: nothing
-- catches: nothing

-- looked at
{looked_at};

-- counter-examples
{counter_examples};
"""


def own(
    folder: Path,
    *,
    name: str = "ours",
    needs: str = "operations",
    looked_at: str = "SELECT count(*) FROM operations",
    counter_examples: str = "SELECT op FROM operations WHERE false",
) -> Path:
    folder.mkdir(exist_ok=True)
    text = OWN.format(name=name, needs=needs, looked_at=looked_at, counter_examples=counter_examples)
    (folder / f"{name}.sql").write_text(text)
    return folder


def sale(run: Run, *, holds: int = 1) -> None:
    run.resource("r", capacity=1)
    for number in range(1, holds + 1):
        run.sold(f"h{number}", "r", sent=1, commit=number + 1, done=number + 1.5, count=number)


def test_a_sound_run_is_valid_and_says_how_much_was_looked_at(run: Run) -> None:
    sale(run)
    run.refused("r", sent=5, done=6, key="k")
    verdict = run.verdict()
    assert (verdict.judgement, verdict.reasons) == (Judgement.VALID, ())
    assert (verdict.operations, verdict.changes) == (2, 4)
    assert all(finding.looked_at for finding in verdict.findings)


def test_a_violation_outranks_what_is_unknown(run: Run) -> None:
    sale(run, holds=2)
    run.assume(happened("confirm:ok"))
    verdict = run.verdict()
    assert verdict.judgement is Judgement.INVALID
    assert verdict.reasons[0] == "never_oversold is violated: 1 counter-examples among 2"
    assert verdict.reasons[1].startswith("happened does not hold: required confirm:ok at least 1×; measured")


def test_a_missed_vacuity_turns_every_valid_finding_unknown(run: Run) -> None:
    sale(run)
    run.assume(happened("confirm:ok"))
    run.given(invariants=("never_oversold", "one_effect_per_key"))
    verdict = run.verdict()
    assert {finding.judgement for finding in verdict.findings} == {Judgement.UNKNOWN}
    assert len(verdict.reasons) == 1


def test_an_invariant_that_looked_at_nothing_makes_the_run_unknown(run: Run) -> None:
    sale(run)
    verdict = run.verdict()
    assert verdict.judgement is Judgement.UNKNOWN
    assert verdict.reasons == ("sold_out_is_true is unknown: there was nothing to look at",)


def test_a_run_that_asked_for_no_invariant_is_unknown(run: Run) -> None:
    sale(run)
    run.given(invariants=())
    verdict = run.verdict()
    assert (verdict.judgement, verdict.reasons) == (Judgement.UNKNOWN, ("no invariant was asked",))


def test_an_invariant_that_nobody_knows_is_unknown(run: Run) -> None:
    sale(run)
    assert run.finding("moon_is_full").reason == "there is no invariant 'moon_is_full'"


def test_the_same_folder_gives_the_same_verdict_byte_for_byte(run: Run) -> None:
    sale(run, holds=9)
    folder = run.write()
    first, second = (msgspec.json.encode(check(folder)) for _ in range(2))
    assert first == second


def test_checking_writes_nothing(run: Run) -> None:
    sale(run)
    folder = run.write()
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    check(folder)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_evidence_that_the_run_did_not_record_is_named(run: Run) -> None:
    sale(run)
    run.not_written.add("snapshots")
    finding = run.finding("sold_out_is_true")
    assert (finding.judgement, finding.reason) == (Judgement.UNKNOWN, "snapshots.parquet was not recorded")


def _own_finding(run: Run, folder: Path) -> Finding:
    return check(run.write(), [folder]).findings[-1]


def test_invariants_of_ones_own_are_judged_beside_those_of_the_scenario(run: Run, tmp_path: Path) -> None:
    sale(run)
    finding = _own_finding(run, own(tmp_path / "ours"))
    assert (finding.invariant, finding.group, finding.judgement) == ("ours", "ours", Judgement.VALID)


def test_what_they_find_is_shown_first_things_first_and_capped(run: Run, tmp_path: Path) -> None:
    for number in range(30):
        run.refused("r", sent=number, done=40, key=f"k{number}")
    folder = own(
        tmp_path / "ours", counter_examples="SELECT op, kind, op / 2 AS half FROM operations ORDER BY op DESC"
    )
    finding = _own_finding(run, folder)
    assert (finding.judgement, finding.count, len(finding.counter_examples)) == (Judgement.INVALID, 30, 10)
    assert finding.counter_examples[0] == {"op": 0, "kind": "hold", "half": 0.0}
    assert [line.who for line in finding.witness] == ["buyer-0 (op 0)", "buyer-0 (op 0)", "in sum"]


@pytest.mark.parametrize(
    "query",
    [
        "SELECT nonsense FROM operations",
        "SELECT CAST('x' AS BIGINT) FROM operations",
        "SELECT * FROM read_text('/etc/hostname')",
    ],
)
def test_an_invariant_that_crashes_is_unknown_with_the_reason(run: Run, tmp_path: Path, query: str) -> None:
    sale(run)
    finding = _own_finding(run, own(tmp_path / "ours", counter_examples=query))
    assert finding.judgement is Judgement.UNKNOWN
    assert (finding.reason or "").startswith("it could not be judged: ")


def test_values_that_json_does_not_have_are_shown_as_text(run: Run, tmp_path: Path) -> None:
    sale(run)
    finding = _own_finding(
        run, own(tmp_path / "ours", counter_examples="SELECT [1, 2] AS listed, DATE '2026-01-02' AS day")
    )
    assert finding.counter_examples == ({"listed": "[1, 2]", "day": "2026-01-02"},)


def test_a_violation_stands_though_its_witness_cannot_be_told(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def speechless(*_: object) -> None:
        raise duckdb.ConversionException("Conversion Error: of something\nin full")

    sale(run)
    monkeypatch.setattr(judge, "witness", speechless)
    finding = _own_finding(run, own(tmp_path / "ours", counter_examples="SELECT 1 AS op"))
    assert finding.judgement is Judgement.INVALID
    assert [line.what for line in finding.witness] == [
        "the columns of the counter-example tell no story: Conversion Error: of something"
    ]


@pytest.mark.parametrize("counted", ["1 WHERE false", "unnest([1, 2])", "NULL", "'many'", "1, 2", "-1"])
def test_an_invariant_that_counts_no_things_is_unknown(run: Run, tmp_path: Path, counted: str) -> None:
    sale(run)
    finding = _own_finding(run, own(tmp_path / "ours", looked_at=f"SELECT {counted}"))
    assert finding.judgement is Judgement.UNKNOWN
    assert "does not give one number" in (finding.reason or "")


ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) AS n FROM t"


def test_a_query_without_an_end_is_given_up(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ASK_SECONDS", 0.5)
    sale(run)
    finding = _own_finding(run, own(tmp_path / "ours", counter_examples=ENDLESS))
    assert finding.judgement is Judgement.UNKNOWN
    assert finding.reason == "it could not be judged: it was not done within 0.5 s"


def test_ctrl_c_in_a_query_is_no_mistake_of_ours(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise RuntimeError("Query interrupted")

    sale(run)
    folder = run.write()
    monkeypatch.setattr(asking, "_queried", interrupted)
    with pytest.raises(KeyboardInterrupt):
        check(folder, [own(tmp_path / "ours")])


def test_evidence_of_another_version_is_refused(run: Run) -> None:
    sale(run)
    run.given(schema_version=99)
    with pytest.raises(EvidenceError, match="its evidence is of version 99"):
        run.verdict()


@pytest.mark.parametrize(
    ("body", "judgement", "reason"),
    [
        ("return 2, [{'op': 0, 'why': 'so'}]", Judgement.INVALID, None),
        ("return 2, []", Judgement.VALID, None),
        ("return 1 // 0, []", Judgement.UNKNOWN, "it could not be judged: ZeroDivisionError: "),
    ],
)
def test_a_function_judges_as_a_query_does(
    run: Run, tmp_path: Path, body: str, judgement: Judgement, reason: str | None
) -> None:
    sale(run)
    header = (
        "# name: ours",
        "# sentence: Ours.",
        "# needs: operations",
        "# rests on: nothing",
        "# catches: nothing",
    )
    (tmp_path / "ours.py").write_text("\n".join((*header, "def judge(evidence):", f"    {body}")))
    finding = check(run.write(), [tmp_path]).findings[-1]
    assert finding.judgement is judgement
    assert (finding.reason or "").startswith(reason or "")
