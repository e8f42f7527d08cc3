"""Whoever is failed while nothing is broken was failed by the service, be it by a word or by a door that was shut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from checker.verdict import Judgement
from scenarios import registry

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

NAME = "errors_are_earned"


def shut_out(plane: Plane, error: str, *, at: float) -> None:
    """Somebody whom a node refuses, so that nothing was sent."""
    plane.operation(
        "hold", "r", sent=None, done=at, intended=at, outcome="fail", key=f"k{at}", status=None, error=error
    )


@pytest.mark.parametrize("error", ["refused", "reset", "eof", "malformed"])
def test_a_node_that_is_away_while_nothing_is_broken_is_caught(plane: Plane, error: str) -> None:
    shut_out(plane, error, at=5)
    (example,) = plane.finding(NAME).counter_examples
    assert (example["node"], example["error"]) == ("a", error)


@pytest.mark.parametrize(("at", "judgement"), [(15, Judgement.UNKNOWN), (2_000, Judgement.INVALID)])
def test_a_node_may_be_away_while_something_is_broken(plane: Plane, at: float, judgement: Judgement) -> None:
    plane.broken(since=10, until=20)
    shut_out(plane, "refused", at=at)
    assert plane.judged(NAME) is judgement


def test_who_waited_in_vain_may_have_waited_for_the_machine(plane: Plane) -> None:
    plane.operation("hold", "r", sent=1, done=5_001, outcome="info", key="k")
    plane.operation("read", "r", sent=1, done=2)
    assert plane.judged(NAME) is Judgement.VALID


BUSY: dict[str, Any] = {"outcome": "fail", "status": 503, "code": "DATABASE_BUSY"}


@pytest.mark.parametrize(("waited", "judgement"), [(0.95, Judgement.INVALID), (0.99, Judgement.UNKNOWN)])
def test_a_machine_on_which_nobody_gets_a_processor_convicts_nobody(
    plane: Plane, waited: float, judgement: Judgement
) -> None:
    plane.operation("hold", "r", sent=1, done=3_001, key="k", **BUSY)
    plane.sample("machine", "cpu_pressure", waited, at=1_500)
    finding = plane.finding(NAME)
    assert (finding.judgement, finding.count) == (judgement, 1)
    assert ("processors_free" in (finding.reason or "")) == (judgement is Judgement.UNKNOWN)


def test_a_service_that_fails_nobody_on_such_a_machine_has_passed(plane: Plane) -> None:
    plane.operation("hold", "r", sent=1, done=3_001, key="k", **SOLD_OUT)
    plane.sample("machine", "cpu_pressure", 0.99, at=1_500)
    assert plane.judged(NAME) is Judgement.VALID


SHED: dict[str, Any] = {"outcome": "fail", "status": 503, "code": "ADMISSION_REFUSED"}
IN_VAIN: dict[str, Any] = {"outcome": "info", "status": None, "error": "timeout"}
SOLD_OUT: dict[str, Any] = {"outcome": "fail", "status": 409, "code": "CAPACITY_EXHAUSTED"}


def crowd(
    plane: Plane, about: dict[str, Any], *, since: float, many: int = 21, every: float = 101, node: str = "a"
) -> None:
    """So many ask a node, one after the other."""
    for number in range(many):
        at = since + number * every
        plane.operation("hold", "r", sent=at, done=at + 50, key=f"{node}{at}", node=node, **about)


@pytest.mark.parametrize(("about", "column"), [(SHED, "turned_away"), (IN_VAIN, "never_answered")])
def test_a_node_that_decides_nothing_for_two_seconds_is_caught_beside_one_that_does(
    plane: Plane, about: dict[str, Any], column: str
) -> None:
    crowd(plane, SOLD_OUT, since=10)
    crowd(plane, SOLD_OUT, since=10, many=5, node="b")
    crowd(plane, about, since=760, node="b")
    (example,) = plane.finding(NAME).counter_examples
    assert (example["node"], example["commands"], example[column]) == ("b", 21, 21)


def test_a_service_that_hangs_altogether_is_caught(plane: Plane) -> None:
    crowd(plane, IN_VAIN, since=10)
    assert plane.judged(NAME) is Judgement.INVALID


@pytest.mark.parametrize(
    "many", [{"many": 19, "every": 200}, {"many": 300, "every": 6}], ids=["few", "a rush"]
)
def test_a_few_in_vain_or_a_rush_that_is_turned_away_tell_nothing(plane: Plane, many: dict[str, Any]) -> None:
    crowd(plane, SHED, since=10, **many)
    assert plane.judged(NAME) is Judgement.VALID


def test_a_node_that_serves_one_now_and_then_in_a_long_rush_is_no_failure(plane: Plane) -> None:
    crowd(plane, SHED, since=10, many=60)
    crowd(plane, SOLD_OUT, since=1_500, many=3, every=1_500)
    assert plane.judged(NAME) is Judgement.VALID


@pytest.mark.parametrize("until", [1_900, None])
def test_who_hangs_while_something_is_broken_is_excused(plane: Plane, until: float | None) -> None:
    plane.operation("read", "r", sent=1, done=2)
    plane.broken(since=10, until=until)
    crowd(plane, IN_VAIN, since=20)
    assert plane.judged(NAME) is Judgement.VALID


def test_who_never_had_an_answer_may_have_waited_for_what_broke_later(plane: Plane) -> None:
    plane.broken(since=3_000, until=3_100)
    plane.operation("read", "r", sent=1, done=2)
    for number in range(21):
        at = 10 + number * 101
        plane.operation("hold", "r", sent=at, done=None, key=f"{at}", **IN_VAIN)
    assert plane.judged(NAME) is Judgement.VALID


def test_what_only_reads_are_told_does_not_serve_those_who_buy(plane: Plane) -> None:
    crowd(plane, SHED, since=10)
    for at in range(20, 2_000, 100):
        plane.operation("read", "r", sent=at, done=at + 1)
    assert plane.judged(NAME) is Judgement.INVALID


def test_where_something_is_broken_from_first_to_last_there_was_nothing_to_look_at(plane: Plane) -> None:
    plane.broken(since=0, until=1_900)
    plane.operation("read", "r", sent=1, done=2)
    shut_out(plane, "refused", at=15)
    finding = plane.finding(NAME)
    assert (finding.judgement, finding.looked_at) == (Judgement.UNKNOWN, 0)


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ("clock", "node-b"),
        ("clock", "worker-expiry-1"),
        ("provider", "notification"),
        ("crash_at", "worker-expiry"),
        ("kill", "leader"),
    ],
)
def test_what_cannot_touch_an_answer_excuses_none(plane: Plane, kind: str, where: str) -> None:
    plane.broken(since=0, until=1_900, kind=kind, where=where)
    plane.operation("read", "r", sent=1, done=2)
    assert plane.judged(NAME) is Judgement.VALID
    shut_out(plane, "refused", at=15)
    assert plane.judged(NAME) is Judgement.INVALID


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ("crash_at", "node-a"),
        ("kill", "node-b"),
        ("pause", "leader"),
        ("blackhole", "pg-workers"),
        ("crash", "postgres"),
    ],
)
def test_who_dies_at_a_node_or_stands_still_with_its_locks_excuses_what_it_touches(
    plane: Plane, kind: str, where: str
) -> None:
    plane.broken(since=10, until=20, kind=kind, where=where)
    plane.operation("read", "r", sent=1, done=2)
    shut_out(plane, "refused", at=15)
    assert plane.judged(NAME) is Judgement.VALID


THROUGHOUT = {
    name: [planned.fault for planned in registry.find(name).faults if planned.throughout]
    for name in registry.names()
}


@pytest.mark.parametrize("name", [name for name, faults in THROUGHOUT.items() if faults])
def test_a_story_in_which_something_is_broken_from_first_to_last_asks_for_it_only_where_it_can_be_judged(
    plane: Plane, name: str
) -> None:
    for fault in THROUGHOUT[name]:
        plane.broken(since=0, until=1_900, kind=fault.kind, where=fault.where)
    plane.operation("read", "r", sent=1, done=2)
    assert (plane.judged(NAME) is Judgement.VALID) == (NAME in registry.find(name).invariants)
