"""What is measured against a threshold counts only where load and machine were well, and where it is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.assumptions import happened, load_healthy
from checker.verdict import Judgement
from scenarios.thresholds import p99
from tests.oracle.by_hand.limited import asked, figure, rushed

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane


@pytest.fixture
def rush(plane: Plane) -> Plane:
    return rushed(plane)


def slow(run: Plane) -> None:
    asked(run, 199, took=90)


def test_not_kept_while_the_load_was_tired_is_unknown(rush: Plane) -> None:
    slow(rush)
    rush.assume(load_healthy(lag_ms_p99_max=0), happened("hold:ok"))
    rush.operation("hold", "r", sent=400, intended=390, done=401, outcome="fail", key="late")
    rush.operation("hold", "r", sent=400, intended=390, done=401, outcome="fail", key="later")
    rush.operation("hold", "r", sent=400, intended=390, done=401, outcome="fail", key="latest")
    tired = figure(rush, p99("hold", below_seconds=0.05))
    assert tired.judgement is Judgement.UNKNOWN
    assert str(tired.reason).startswith("it is not kept, but the load was tired (10.00 ms late at p99")
    assert rush.verdict().judgement is Judgement.UNKNOWN


def test_the_load_is_looked_at_where_the_story_does_not_ask_for_it(rush: Plane) -> None:
    slow(rush)
    rush.assume(happened("hold:ok"))
    rush.sample("load/0", "dropped", 7)
    assert figure(rush, p99("hold", below_seconds=0.05)).judgement is Judgement.UNKNOWN


@pytest.mark.parametrize(
    ("source", "metric", "share", "judgement"),
    [
        ("load/0", "cpu_share", 0.95, Judgement.UNKNOWN),
        ("load/0", "cpu_share", 0.85, Judgement.INVALID),
        ("machine", "cpu_pressure", 0.95, Judgement.UNKNOWN),
        ("machine", "cpu_pressure", 0.85, Judgement.INVALID),
        ("node-a", "cpu_share", 0.99, Judgement.INVALID),
    ],
)
def test_not_kept_on_a_machine_that_cannot_keep_up_is_unknown(
    rush: Plane, source: str, metric: str, share: float, judgement: Judgement
) -> None:
    slow(rush)
    rush.sample(source, metric, share, at=50)
    assert figure(rush, p99("hold", below_seconds=0.05)).judgement is judgement


def test_pressure_before_the_load_is_not_its_own(rush: Plane) -> None:
    slow(rush)
    rush.sample("machine", "cpu_pressure", 0.95, at=-5)
    assert figure(rush, p99("hold", below_seconds=0.05)).judgement is Judgement.INVALID


def test_kept_means_nothing_where_nothing_happened(rush: Plane) -> None:
    asked(rush, 199, took=5)
    rush.assume(happened("confirm:ok"))
    vain = figure(rush, p99("hold", below_seconds=1))
    assert (vain.judgement, vain.reason) == (Judgement.UNKNOWN, "it is kept, but without happened")


def test_not_kept_stays_so_whatever_else_did_not_happen(rush: Plane) -> None:
    slow(rush)
    rush.assume(happened("confirm:ok"), load_healthy(lag_ms_p99_max=10))
    assert figure(rush, p99("hold", below_seconds=0.05)).judgement is Judgement.INVALID


def test_a_history_with_gaps_is_no_measure(rush: Plane) -> None:
    slow(rush)
    rush.tallies[0] = 1_000
    torn = figure(rush, p99("hold", below_seconds=0.05))
    assert (torn.judgement, torn.reason) == (Judgement.UNKNOWN, "history_complete does not hold")


def test_in_smoke_a_threshold_is_reported_and_judged_only_where_asked(rush: Plane) -> None:
    slow(rush)
    only_told = figure(rush, p99("hold", below_seconds=0.05), judged=False)
    assert (only_told.judgement, only_told.judged) == (Judgement.INVALID, False)
    assert rush.verdict().judgement is Judgement.VALID
    assert rush.verdict().reasons == ()
    assert figure(rush, p99("hold", below_seconds=0.05)).judged
    assert rush.verdict().judgement is Judgement.INVALID
    assert rush.verdict().reasons == (
        "p99 of hold is not kept: required below 50 ms; measured 90 ms over 200 operations",
    )


def test_a_threshold_that_is_kept_leaves_the_verdict_valid(rush: Plane) -> None:
    asked(rush, 199, took=5)
    assert figure(rush, p99("hold", below_seconds=0.05)).judgement is Judgement.VALID
    assert rush.verdict().judgement is Judgement.VALID


def test_without_thresholds_there_are_no_figures(rush: Plane) -> None:
    assert rush.verdict().figures == ()
