"""Redis only advises: while nothing but it is broken whoever asks is answered, and none is failed for want of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

NAME = "answers_without_redis"
VALID, INVALID, UNKNOWN = Judgement.VALID, Judgement.INVALID, Judgement.UNKNOWN
SHED: dict[str, Any] = {"outcome": "fail", "status": 503, "code": "ADMISSION_REFUSED"}
SOLD_OUT: dict[str, Any] = {"outcome": "fail", "status": 409}
IN_VAIN: dict[str, Any] = {"outcome": "info", "status": None}


@pytest.fixture
def outage(plane: Plane) -> Plane:
    """Redis is away from 10 to 100 ms, and somebody reads meanwhile."""
    plane.broken(since=10, until=100, where="redis")
    plane.operation("read", "r", sent=11, done=12)
    return plane


def asks(plane: Plane, at: float, about: dict[str, Any], *, took: float = 1, node: str = "a") -> None:
    plane.operation("hold", "r", sent=at, done=at + took, key=f"{node}{at}", node=node, **about)


@pytest.mark.parametrize(
    "about",
    [
        {"outcome": "info", "status": 500},
        {"outcome": "fail", "status": 503, "code": "DATABASE_BUSY"},
        {"outcome": "info", "status": None, "error": "eof"},
    ],
)
def test_who_is_failed_outright_is_caught(outage: Plane, about: dict[str, Any]) -> None:
    asks(outage, 15, about)
    assert outage.judged(NAME) is INVALID


def test_a_machine_on_which_nobody_gets_a_processor_convicts_nobody(outage: Plane) -> None:
    asks(outage, 20, {"outcome": "fail", "status": 503, "code": "DATABASE_BUSY"})
    outage.sample("machine", "cpu_pressure", 0.99, at=15)
    finding = outage.finding(NAME)
    assert (finding.judgement, finding.count) == (UNKNOWN, 1)
    assert "processors_free" in (finding.reason or "")


def test_a_door_that_is_shut_for_want_of_redis_is_caught_although_nothing_left(outage: Plane) -> None:
    outage.operation(
        "hold", "r", sent=None, intended=15, done=15, outcome="fail", key="k", status=None, error="refused"
    )
    assert outage.judged(NAME) is INVALID


@pytest.mark.parametrize("about", [SOLD_OUT, SHED, IN_VAIN])
def test_one_who_is_refused_turned_away_or_waits_in_vain_tells_nothing(
    outage: Plane, about: dict[str, Any]
) -> None:
    asks(outage, 15, about)
    assert outage.judged(NAME) is VALID


@pytest.mark.parametrize(("about", "column"), [(SHED, "turned_away"), (IN_VAIN, "never_answered")])
def test_a_node_that_serves_no_command_while_redis_is_away_is_caught(
    outage: Plane, about: dict[str, Any], column: str
) -> None:
    for at in range(20, 24):
        asks(outage, at, about, node="b")
        asks(outage, at, SOLD_OUT)
    assert outage.judged(NAME) is VALID
    asks(outage, 24, about, node="b")
    (example,) = outage.finding(NAME).counter_examples
    assert (example["node"], example["fault"], example[column]) == ("b", "cut", 5)


def test_whoever_never_had_an_answer_counts_too_and_is_of_the_fault_that_he_met(outage: Plane) -> None:
    for at in range(20, 25):
        outage.operation("hold", "r", sent=at, done=None, key=f"k{at}", outcome="info", error=None)
    assert outage.judged(NAME) is INVALID


def test_whoever_never_had_an_answer_may_have_waited_for_what_broke_later(outage: Plane) -> None:
    outage.broken(since=500, until=600, where="pg-a")
    for at in range(20, 25):
        outage.operation("hold", "r", sent=at, done=None, key=f"k{at}", outcome="info", error=None)
    assert outage.judged(NAME) is VALID


def test_who_is_let_through_before_the_fault_is_proven_to_be_in_place_excuses_none(plane: Plane) -> None:
    plane.fault("cut", injected=10, landed=20, healed=100)
    for at in range(11, 19):
        asks(plane, at, SOLD_OUT)
    for at in range(25, 30):
        asks(plane, at, SHED)
    assert plane.judged(NAME) is INVALID


def test_whoever_asked_long_before_and_never_had_an_answer_was_not_failed_for_want_of_redis(
    plane: Plane,
) -> None:
    plane.broken(since=1_000, until=1_100, where="redis")
    for at in range(20, 25):
        plane.operation("hold", "r", sent=at, done=None, key=f"k{at}", outcome="info", error=None)
        asks(plane, at + 100, {"outcome": "info", "status": 500})
    assert plane.judged(NAME) is UNKNOWN


def test_what_is_planned_is_not_broken_yet(plane: Plane) -> None:
    plane.fault("cut", landed=500, injected=500, healed=600)  # planned for the start
    asks(plane, 15, {"outcome": "info", "status": 500})
    assert plane.judged(NAME) is UNKNOWN


def test_one_of_many_who_gets_through_while_it_is_being_broken_or_healed_excuses_none(
    outage: Plane,
) -> None:
    for at in range(20, 30):
        asks(outage, at, SHED)
    asks(outage, 95, SOLD_OUT)
    assert outage.judged(NAME) is INVALID


@pytest.mark.parametrize("sent", [8, 99])
def test_who_came_before_or_is_answered_after_the_healing_was_not_let_through_without_redis(
    outage: Plane, sent: float
) -> None:
    for at in range(20, 25):
        asks(outage, at, IN_VAIN)
    asks(outage, sent, SOLD_OUT, took=5)
    assert outage.judged(NAME) is INVALID


def test_a_few_who_wait_in_vain_among_many_who_are_served_may_have_met_a_tired_machine(
    outage: Plane,
) -> None:
    for at in range(20, 90):
        asks(outage, at, IN_VAIN if at % 10 == 0 else SOLD_OUT)
    assert outage.judged(NAME) is VALID


def test_reads_ask_no_adviser_and_are_no_proof_that_commands_are_served(outage: Plane) -> None:
    for at in range(20, 25):
        asks(outage, at, SHED)
        outage.operation("read", "r", sent=at, done=at + 1)
    assert outage.judged(NAME) is INVALID


def test_who_is_turned_away_after_the_healing_is_no_business_of_this(outage: Plane) -> None:
    for at in range(200, 210):
        asks(outage, at, SHED)
    assert outage.judged(NAME) is VALID


def test_redis_is_not_to_blame_while_something_else_is_broken_too(plane: Plane) -> None:
    plane.broken(since=10, until=20, where="redis-b")
    plane.broken(since=12, until=13, where="pg-b")
    asks(plane, 15, {"outcome": "info", "status": 500})
    assert plane.judged(NAME) is UNKNOWN
    asks(plane, 11, {"outcome": "info", "status": 500}, took=0.5)
    assert plane.judged(NAME) is INVALID


def test_a_clock_that_is_wrong_is_not_to_blame_beside_it(outage: Plane) -> None:
    outage.broken(since=0, until=1_900, kind="clock", where="node-b")
    asks(outage, 15, {"outcome": "info", "status": 500})
    assert outage.judged(NAME) is INVALID
