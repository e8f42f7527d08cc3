"""The whole line, as a user types it: one command, one race, one verdict."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from checker.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RACE = ("run", "last_seat_race")
MUTANT = (*RACE, "--mutant", "oversell-read-write")

pytestmark = pytest.mark.timeout(240)


def test_the_healthy_service_passes_and_the_run_meant_something(typed: Callable[..., Any]) -> None:
    ran = typed(*RACE)
    assert ran.code == 0, ran.said
    assert ran.verdict.judgement is Judgement.VALID
    assert ran.verdict.operations == 2_000
    assert {
        "never_oversold",
        "occupancy_matches_claims",
        "acknowledged_is_persisted",
        "nothing_unattempted_exists",
        "one_effect_per_key",
        "sold_out_is_true",
        "refused_left_no_trace",
    } <= {finding.invariant for finding in ran.verdict.findings}
    assert all(finding.looked_at > 0 for finding in ran.verdict.findings)
    assert ran.verdict.missed == ()


def test_each_of_two_hundred_seats_goes_to_exactly_one_of_ten(typed: Callable[..., Any]) -> None:
    operations = pq.read_table(typed(*RACE).folder / "operations.parquet").to_pandas()
    won = operations[operations.outcome == "ok"].groupby("subject").size()
    asked = operations.groupby("subject").size()
    assert (won == 1).all()
    assert len(won) == len(asked) == 200
    assert (asked == 10).all()
    assert set(operations.node) == {"a", "b"}


def test_a_run_leaves_everything_that_a_colleague_needs(typed: Callable[..., Any]) -> None:
    folder = typed(*RACE).folder
    for name in ("report.html", "verdict.json", "junit.xml", "summary.md", "scenario.json", "trail.json"):
        assert (folder / name).stat().st_size > 0, name
    assert "operations.parquet" in (folder / "seal.json").read_text()
    assert (typed(*RACE).runs / "index.html").is_file()


def test_a_planted_oversell_is_caught_by_name_with_a_witness(typed: Callable[..., Any]) -> None:
    ran = typed(*MUTANT)
    assert ran.code == 1, ran.said
    (oversold,) = (finding for finding in ran.verdict.findings if finding.invariant == "never_oversold")
    assert oversold.judgement is Judgement.INVALID
    assert oversold.witness
    assert "never_oversold violated" in ran.said
    assert "+1 → 2 of 1 claimed" in ran.said
    assert "lastseat run last_seat_race --seed 1 --mutant oversell-read-write" in ran.said


def test_buyers_who_come_one_by_one_prove_nothing(typed: Callable[..., Any]) -> None:
    ran = typed(*RACE, "--no-barrier")
    assert ran.code == 3, ran.said
    assert ran.verdict.judgement is Judgement.UNKNOWN
    assert {"in_flight_together", "contended"} <= {
        premise.name for premise in ran.verdict.premises if not premise.holds
    }
    assert "in_flight_together does not hold" in ran.said


@pytest.mark.parametrize("words", [RACE, MUTANT, (*RACE, "--no-barrier")])
def test_the_verdict_can_be_recomputed_from_the_folder_alone(
    words: tuple[str, ...], typed: Callable[..., Any], tmp_path: Path
) -> None:
    ran = typed(*words)
    copy = tmp_path / "elsewhere"
    shutil.copytree(ran.folder, copy)
    again = typed("check", str(copy))
    assert again.code == ran.code, again.said
    assert "agrees with the one in verdict.json" in again.said


def test_no_secret_of_a_run_stands_in_its_folder(typed: Callable[..., Any]) -> None:
    folder = typed(*RACE).folder
    text = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    for secret in (b"Bearer ", b"eyJhbGciOi", b"postgresql://", b"TOKEN_SECRET", b"OWNER_SECRET"):
        assert secret not in text, secret
