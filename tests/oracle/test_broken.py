"""What may be wrong while something is broken, and what must be right again after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

ERRORS, RECOVERS = "errors_are_earned", "recovers_after_heal"


def failed(plane: Plane, *, sent: float, done: float, **about: Any) -> None:
    plane.operation(
        "hold", "r", sent=sent, done=done, key=f"k{sent}", **({"outcome": "info", "status": 500} | about)
    )


@pytest.mark.parametrize(("sent", "done"), [(5, 12), (12, 15), (15, 40), (30, 900)])
def test_who_fails_while_something_is_broken_or_just_healed_has_a_reason(
    plane: Plane, sent: float, done: float
) -> None:
    plane.broken(since=10, until=20)
    plane.operation("read", "r", sent=1, done=2)
    failed(plane, sent=sent, done=done)
    assert plane.judged(ERRORS) is Judgement.VALID


def test_a_failure_long_after_the_last_of_two_faults_is_caught(plane: Plane) -> None:
    plane.broken(since=10, until=500)
    plane.broken(since=100, until=200)
    plane.operation("read", "r", sent=1, done=2)
    failed(plane, sent=1_400, done=1_410)
    assert plane.judged(ERRORS) is Judgement.VALID
    failed(plane, sent=1_600, done=1_610)
    assert plane.judged(ERRORS) is Judgement.INVALID


def test_a_fault_that_never_healed_excuses_everything_after_it(plane: Plane) -> None:
    plane.broken(since=10, until=None)
    plane.operation("read", "r", sent=1, done=2)
    failed(plane, sent=900, done=910)
    assert plane.judged(ERRORS) is Judgement.VALID


def test_to_shed_load_is_no_failure_but_a_database_that_is_too_busy_is(plane: Plane) -> None:
    plane.broken(since=500, until=600)
    failed(plane, sent=1, done=2, outcome="fail", status=503, code="ADMISSION_REFUSED")
    assert plane.judged(ERRORS) is Judgement.VALID
    failed(plane, sent=3, done=4, outcome="fail", status=503, code="DATABASE_BUSY")
    assert plane.judged(ERRORS) is Judgement.INVALID


def test_one_decision_after_the_heal_is_a_recovery(plane: Plane) -> None:
    plane.broken(since=10, until=20)
    for number in range(4):
        failed(plane, sent=1_100 + number, done=1_200)
    plane.operation("hold", "r", sent=1_300, done=1_301, key="z", outcome="fail", code="CAPACITY_EXHAUSTED")
    assert plane.judged(RECOVERS) is Judgement.VALID


def asked_after(plane: Plane, node: str, *, many: int = 10, every: float = 30, **about: Any) -> None:
    for number in range(many):
        at = 1_100 + number * every
        plane.operation("hold", "r", sent=at, done=at + 1, key=f"{node}{at}", node=node, **about)


DECIDED: dict[str, Any] = {"outcome": "fail", "status": 409, "code": "CAPACITY_EXHAUSTED"}
FAILED: dict[str, Any] = {"outcome": "info", "status": 500}


def test_one_node_that_does_not_come_back_is_caught_beside_one_that_does(plane: Plane) -> None:
    plane.broken(since=10, until=20)
    asked_after(plane, "a", **DECIDED)
    asked_after(plane, "b", **FAILED)
    (example,) = plane.finding(RECOVERS).counter_examples
    assert (example["node"], example["undecided"]) == ("b", 10)


@pytest.mark.parametrize("who", [{"many": 9}, {"every": 5}], ids=["few", "all at once"])
def test_a_few_or_those_who_came_all_at_once_prove_nothing_of_a_node(
    plane: Plane, who: dict[str, Any]
) -> None:
    plane.broken(since=10, until=20)
    asked_after(plane, "a", **DECIDED)
    asked_after(plane, "b", **who, **FAILED)
    assert plane.judged(RECOVERS) is Judgement.VALID


def test_a_node_that_decides_one_has_come_back(plane: Plane) -> None:
    plane.broken(since=10, until=20)
    asked_after(plane, "a", **DECIDED)
    asked_after(plane, "b", **FAILED)
    plane.operation("hold", "r", sent=1_500, done=1_501, key="b-last", node="b", **DECIDED)
    assert plane.judged(RECOVERS) is Judgement.VALID


def test_two_failures_prove_nothing(plane: Plane) -> None:
    plane.broken(since=10, until=20)
    for number in range(2):
        failed(plane, sent=1_100 + number, done=1_200)
    assert plane.judged(RECOVERS) is Judgement.UNKNOWN


@pytest.mark.parametrize("until", [1_900, None])
def test_nobody_recovers_while_something_else_is_still_broken_or_is_again(
    plane: Plane, until: float | None
) -> None:
    plane.broken(since=10, until=20)
    plane.broken(since=1_050, until=until)
    for number in range(3):
        failed(plane, sent=1_100 + number, done=1_200)
    assert plane.judged(RECOVERS) is Judgement.UNKNOWN
    plane.broken(since=15, until=until)
    assert plane.judged(RECOVERS) is Judgement.UNKNOWN


def test_a_clock_that_is_wrong_all_the_time_is_no_reason_not_to_recover(plane: Plane) -> None:
    plane.broken(since=0, until=1_900, kind="clock", where="node-b")
    plane.broken(since=10, until=20)
    for number in range(3):
        failed(plane, sent=1_100 + number, done=1_200)
    assert plane.judged(RECOVERS) is Judgement.INVALID


def test_failures_before_the_next_fault_are_judged_by_themselves(plane: Plane) -> None:
    plane.broken(since=10, until=20)
    plane.broken(since=1_200, until=1_300)
    for number in range(3):
        failed(plane, sent=1_100 + number, done=1_150)
    plane.operation("hold", "r", sent=2_400, done=2_401, key="z", outcome="fail", code="CAPACITY_EXHAUSTED")
    finding = plane.finding(RECOVERS)
    assert [row["undecided"] for row in finding.counter_examples] == [3]
