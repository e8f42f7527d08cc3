"""Thresholds are measured from the evidence alone: kept, not kept, and not to be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.assumptions import happened, load_healthy
from checker.brief import Threshold
from checker.verdict import Judgement
from scenarios.thresholds import p99, recovers
from tests.oracle.by_hand.limited import asked, figure, rushed

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane


@pytest.fixture
def rush(plane: Plane) -> Plane:
    return rushed(plane)


def test_a_p99_below_its_threshold_is_kept(rush: Plane) -> None:
    asked(rush, 199, took=20)
    kept = figure(rush, p99("hold", below_seconds=0.03))
    assert (kept.judgement, kept.looked_at, kept.measured_seconds) == (Judgement.VALID, 200, 0.02)
    assert (kept.name, kept.required, kept.measured) == (
        "p99 of hold",
        "below 30 ms",
        "20 ms over 200 operations",
    )


def test_one_in_a_hundred_may_be_slow_and_two_may_not(rush: Plane) -> None:
    asked(rush, 98, took=20)
    asked(rush, 1, took=400, at=200)
    assert figure(rush, p99("hold", below_seconds=0.03)).judgement is Judgement.VALID
    asked(rush, 1, took=400, at=300)
    slow = figure(rush, p99("hold", below_seconds=0.03))
    assert (slow.judgement, slow.measured_seconds) == (Judgement.INVALID, 0.4)


def test_a_person_waits_from_when_he_meant_to_act(rush: Plane) -> None:
    rush.assume(load_healthy(lag_ms_p99_max=1_000), happened("hold:ok"))
    for place in range(150):
        rush.operation(
            "hold",
            "r",
            sent=110 + place,
            intended=10 + place,
            done=111 + place,
            outcome="fail",
            key=f"k{place}",
        )
    assert figure(rush, p99("hold", below_seconds=0.03)).measured_seconds == 0.101


def test_the_limit_itself_is_not_below_it(rush: Plane) -> None:
    asked(rush, 199, took=30)
    assert figure(rush, p99("hold", below_seconds=0.03)).judgement is Judgement.INVALID


def test_what_is_never_answered_is_slower_than_any_threshold(rush: Plane) -> None:
    asked(rush, 100, took=5)
    for place in range(3):
        rush.operation("hold", "r", sent=200, done=None, outcome="info", key=f"lost-{place}")
    lost = figure(rush, p99("hold", below_seconds=60))
    assert lost.judgement is Judgement.INVALID
    assert lost.measured == "never answered over 104 operations, 3 of them never answered"


def test_other_operations_are_not_measured(rush: Plane) -> None:
    asked(rush, 199, took=20)
    for place in range(50):
        rush.operation("look", "r", sent=300, done=900, outcome="fail", key=f"look-{place}")
    assert figure(rush, p99("hold", below_seconds=0.03)).judgement is Judgement.VALID


@pytest.mark.parametrize(
    ("took", "judgement"), [(20, Judgement.VALID), (40, Judgement.UNKNOWN)], ids=["quick", "slow"]
)
def test_of_fewer_than_a_hundred_the_slowest_must_do(rush: Plane, took: float, judgement: Judgement) -> None:
    asked(rush, 98, took=took)
    few = figure(rush, p99("hold", below_seconds=0.03))
    assert few.judgement is judgement
    assert few.measured == f"the slowest of 99 operations took {took} ms; a p99 needs a hundred"


def test_nothing_measured_is_nothing_kept(rush: Plane) -> None:
    none = figure(rush, p99("cancel", below_seconds=1))
    assert (none.judgement, none.reason) == (Judgement.UNKNOWN, "there was no cancel to measure")
    assert rush.verdict().judgement is Judgement.UNKNOWN


def slow_while_broken(run: Plane) -> None:
    asked(run, 150, took=5)
    run.broken(since=500, until=700)
    asked(run, 20, took=400, at=490, every=10)  # some began just before it


def test_outside_faults_leaves_out_what_met_one_and_the_second_after_it(rush: Plane) -> None:
    slow_while_broken(rush)
    asked(rush, 20, took=400, at=1_650)
    assert figure(rush, p99("hold", below_seconds=0.05)).judgement is Judgement.INVALID
    calm = figure(rush, p99("hold", below_seconds=0.05, outside_faults=True))
    assert (calm.judgement, calm.looked_at) == (Judgement.VALID, 151)


def test_outside_faults_sees_what_is_still_slow_a_second_after(rush: Plane) -> None:
    slow_while_broken(rush)
    asked(rush, 20, took=400, at=1_701)
    assert figure(rush, p99("hold", below_seconds=0.05, outside_faults=True)).judgement is Judgement.INVALID


def test_a_fault_that_is_never_healed_has_no_outside_after_it(rush: Plane) -> None:
    asked(rush, 150, took=5)
    rush.broken(since=500, until=None)
    asked(rush, 50, took=400, at=5_000)
    assert figure(rush, p99("hold", below_seconds=0.05, outside_faults=True)).looked_at == 151


def test_recovery_is_the_first_decision_after_the_healing(rush: Plane) -> None:
    rush.broken(since=100, until=200)
    asked(rush, 5, took=50, at=205, every=10, status=503)
    asked(rush, 1, took=20, at=260)
    well = figure(rush, recovers("hold", within_seconds=0.1))
    assert (well.judgement, well.measured_seconds, well.looked_at) == (Judgement.VALID, 0.075, 1)
    assert well.measured == "75 ms, after cut"
    assert figure(rush, recovers("hold", within_seconds=0.07)).judgement is Judgement.INVALID


def test_a_refusal_is_a_decision_and_what_nobody_knows_is_none(rush: Plane) -> None:
    rush.broken(since=100, until=200)
    rush.operation("hold", "r", sent=210, done=220, outcome="info", key="lost")
    rush.operation("hold", "r", sent=230, done=240, outcome="fail", key="told")
    assert figure(rush, recovers("hold", within_seconds=1)).measured_seconds == 0.03


def test_what_was_asked_before_the_healing_proves_nothing(rush: Plane) -> None:
    rush.broken(since=100, until=200)
    rush.operation("hold", "r", sent=150, done=201, outcome="fail", key="old")
    rush.operation("hold", "r", sent=210, done=290, outcome="fail", key="new")
    assert figure(rush, recovers("hold", within_seconds=1)).measured_seconds == 0.08


def test_nobody_can_be_told_who_does_not_ask(rush: Plane) -> None:
    rush.broken(since=100, until=200)
    rush.operation("hold", "r", sent=800, done=810, outcome="fail", key="late")
    assert figure(rush, recovers("hold", within_seconds=0.1)).measured_seconds == 0.01


def test_a_service_that_never_decides_again_does_not_recover(rush: Plane) -> None:
    rush.broken(since=100, until=200)
    asked(rush, 20, took=5, at=210, every=20, status=503)
    never = figure(rush, recovers("hold", within_seconds=0.3))
    assert (never.judgement, never.measured_seconds) == (Judgement.INVALID, None)
    assert never.measured == "none after cut, of 1 healed fault"


def test_a_load_that_ends_too_soon_says_nothing(rush: Plane) -> None:
    rush.broken(since=100, until=200)
    asked(rush, 2, took=5, at=210, every=20, status=503)
    assert figure(rush, recovers("hold", within_seconds=0.3)).judgement is Judgement.UNKNOWN


def test_each_fault_is_watched_to_the_next_and_the_slowest_recovery_counts(rush: Plane) -> None:
    rush.broken(since=100, until=200)
    asked(rush, 1, took=10, at=201)
    rush.broken(since=300, until=400)
    asked(rush, 1, took=90, at=401)
    slowest = figure(rush, recovers("hold", within_seconds=1))
    assert (slowest.looked_at, slowest.measured_seconds) == (2, 0.09)


def blip(run: Plane, name: str, *, since: float, until: float | None) -> None:
    run.broken(since=since, until=until)
    run.faults[-1]["fault"] = name


def test_a_fault_after_which_nobody_asked_is_named_though_the_service_recovered_from_others(
    rush: Plane,
) -> None:
    blip(rush, "cut", since=100, until=200)
    asked(rush, 1, took=10, at=201)
    blip(rush, "kill", since=300, until=400)
    half = figure(rush, recovers("hold", within_seconds=1))
    assert (half.judgement, half.looked_at) == (Judgement.UNKNOWN, 1)
    assert half.reason == "10 ms, after cut; nobody asked for long enough after kill"


def test_a_fault_that_was_watched_too_short_is_named_though_the_service_recovered_from_others(
    rush: Plane,
) -> None:
    blip(rush, "cut", since=100, until=200)
    asked(rush, 2, took=5, at=210, every=20, status=503)
    blip(rush, "kill", since=250, until=400)
    asked(rush, 1, took=10, at=401)
    half = figure(rush, recovers("hold", within_seconds=0.3))
    assert half.judgement is Judgement.UNKNOWN
    assert str(half.reason).endswith("nobody asked for long enough after cut")


def test_a_slow_recovery_stays_one_whatever_nobody_asked_after(rush: Plane) -> None:
    blip(rush, "cut", since=100, until=200)
    asked(rush, 1, took=900, at=201)
    blip(rush, "kill", since=1_300, until=1_400)
    assert figure(rush, recovers("hold", within_seconds=0.5)).judgement is Judgement.INVALID


def test_a_fault_that_healed_while_another_never_did_shows_no_recovery(rush: Plane) -> None:
    blip(rush, "cut", since=100, until=200)
    asked(rush, 1, took=10, at=201)
    blip(rush, "kill", since=300, until=None)
    blip(rush, "latency", since=350, until=400)
    asked(rush, 1, took=10, at=401)
    half = figure(rush, recovers("hold", within_seconds=1))
    assert half.judgement is Judgement.UNKNOWN
    assert str(half.reason).endswith("after latency")


def test_of_faults_at_once_the_last_to_be_healed_counts(rush: Plane) -> None:
    rush.broken(since=100, until=200)
    rush.broken(since=150, until=400)
    asked(rush, 5, took=200, at=210, status=503)
    asked(rush, 1, took=10, at=410)
    assert figure(rush, recovers("hold", within_seconds=0.1)).measured_seconds == 0.01


@pytest.mark.parametrize(
    "odd",
    [
        Threshold(name="p42", operation="hold"),
        Threshold(name="p99", operation="hold"),
        Threshold(name="p99", operation="hold", parameters={"below_seconds": "soon"}),
    ],
)
def test_a_threshold_that_cannot_be_measured_is_unknown(rush: Plane, odd: Threshold) -> None:
    unmeasured = figure(rush, odd)
    assert unmeasured.judgement is Judgement.UNKNOWN
    assert str(unmeasured.reason).startswith("it could not be measured")
