"""A service that was without Redis goes back to it when it is there again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

NAME = "redis_is_asked_again"
VALID, INVALID, UNKNOWN = Judgement.VALID, Judgement.INVALID, Judgement.UNKNOWN


@pytest.fixture
def outage(plane: Plane) -> Plane:
    """Redis is away from 10 to 100 ms, and somebody reads."""
    plane.operation("read", "r", sent=1, done=2)
    plane.broken(since=10, until=100, where="redis-a")
    return plane


def let_in(plane: Plane, by: str, *instants: float, node: str = "a") -> None:
    for at in instants:
        plane.sample(f"admission/{node}", by, 1, at=at)


def test_a_node_that_is_back_within_two_seconds_is_well(outage: Plane) -> None:
    let_in(outage, "local-fallback", 50, 150, 1_500)
    let_in(outage, "redis", 1_900, 3_000)
    assert outage.judged(NAME) is VALID


def test_one_that_comes_back_later_is_found_out_with_the_time_that_it_took(outage: Plane) -> None:
    let_in(outage, "local-fallback", 2_200, 2_500, 2_700, 2_900)
    let_in(outage, "redis", 3_100)
    (example,) = outage.finding(NAME).counter_examples
    assert (example["at_node"], example["again_after_ms"]) == ("admission/a", 3_000)


def test_each_node_must_be_back(outage: Plane) -> None:
    let_in(outage, "redis", 200, 2_300, node="a")
    let_in(outage, "local-fallback", 2_200, 2_500, 2_700, 2_900, node="b")
    assert [each["at_node"] for each in outage.finding(NAME).counter_examples] == ["admission/b"]


def test_a_word_that_came_too_late_now_and_then_is_no_absence(outage: Plane) -> None:
    let_in(outage, "redis", 300, 2_300)
    let_in(outage, "local-fallback", 2_400, 2_700, 2_800, 2_900)
    assert outage.judged(NAME) is VALID


@pytest.mark.parametrize("until", [9_000, None])
def test_what_happens_once_it_is_broken_again_is_the_next_faults(outage: Plane, until: float | None) -> None:
    outage.broken(since=2_150, until=until, where="redis-b")
    let_in(outage, "local-fallback", 2_120, 2_450, 2_600, 2_700)
    assert outage.judged(NAME) is UNKNOWN


def test_the_next_fault_is_the_one_that_begins_first_and_not_the_one_that_ends_first(outage: Plane) -> None:
    outage.broken(since=2_150, until=9_000, where="redis-b")
    outage.broken(since=5_000, until=6_000, where="redis-a")
    let_in(outage, "local-fallback", 2_120, 2_450, 2_600, 2_700)
    assert outage.judged(NAME) is UNKNOWN


@pytest.mark.parametrize("until", [9_000, None])
def test_nobody_goes_back_to_a_redis_that_is_still_broken_otherwise(
    outage: Plane, until: float | None
) -> None:
    outage.broken(since=50, until=until, where="redis")
    let_in(outage, "local-fallback", 2_200, 2_500, 2_700, 2_900)
    assert outage.judged(NAME) is UNKNOWN


@pytest.mark.parametrize("before", [(), (150,)])
def test_the_first_that_comes_to_an_idle_node_tries_and_the_rest_of_its_burst_do_not_wait_for_it(
    outage: Plane, before: tuple[float, ...]
) -> None:
    let_in(outage, "local-fallback", *before, 5_000, 5_001, 5_002, 5_003)
    let_in(outage, "redis", 5_004)
    assert outage.judged(NAME) is VALID


def test_a_node_that_was_idle_and_does_not_try_is_found_out(outage: Plane) -> None:
    let_in(outage, "local-fallback", 5_000, 5_300, 5_400, 5_500)
    assert outage.judged(NAME) is INVALID


def test_a_load_that_ended_too_early_to_tell_proves_nothing(outage: Plane) -> None:
    let_in(outage, "local-fallback", 50, 150, 1_500)
    assert outage.judged(NAME) is UNKNOWN


def test_a_fault_of_something_else_says_nothing_of_redis(plane: Plane) -> None:
    plane.operation("read", "r", sent=1, done=2)
    plane.broken(since=10, until=100, where="pg-a")
    let_in(plane, "local-fallback", 2_200, 2_400, 2_600)
    assert plane.judged(NAME) is UNKNOWN
