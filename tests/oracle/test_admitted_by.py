"""By whose word commands were let in while Redis was broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.assumptions import admitted_by

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

ALONE = admitted_by("local-fallback")


@pytest.fixture
def outage(plane: Plane) -> Plane:
    """Redis is away from 10 to 100 ms, and two nodes are asked."""
    plane.broken(since=10, until=100, where="redis")
    plane.resource("r", capacity=1)
    for node in ("a", "b"):
        plane.refused("r", sent=5, done=6, key=f"early-{node}", node=node)
    return plane


def let_in(plane: Plane, node: str, *, at: float, by: str = "local-fallback") -> None:
    plane.sample(f"admission/{node}", by, 1, at=at)


def test_every_node_must_have_let_somebody_in_without_redis(outage: Plane) -> None:
    let_in(outage, "a", at=20)
    let_in(outage, "a", at=30)
    premise = outage.premise(ALONE)
    assert (premise.holds, premise.measured) == (
        False,
        "a by local-fallback 2×, b by local-fallback 0×",
    )
    let_in(outage, "b", at=40)
    assert outage.premise(ALONE).holds
    assert not outage.premise(admitted_by("local-fallback", at_least=2)).holds


@pytest.mark.parametrize(("at", "by"), [(20, "redis"), (5, "local-fallback"), (101, "local-fallback")])
def test_with_the_word_of_redis_or_while_it_was_well_does_not_count(
    outage: Plane, at: float, by: str
) -> None:
    let_in(outage, "a", at=20)
    let_in(outage, "b", at=at, by=by)
    assert not outage.premise(ALONE).holds


def test_what_else_was_broken_is_no_absence_of_redis(plane: Plane) -> None:
    plane.broken(since=10, until=100, where="pg-a")
    plane.resource("r", capacity=1)
    plane.refused("r", sent=5, done=6, key="k")
    let_in(plane, "a", at=20)
    assert not plane.premise(ALONE).holds


def test_two_faults_at_once_are_not_counted_twice(outage: Plane) -> None:
    outage.broken(since=15, until=90, where="redis-a", name="another")
    let_in(outage, "a", at=20)
    let_in(outage, "b", at=20)
    assert outage.premise(ALONE).measured == "a by local-fallback 1×, b by local-fallback 1×"
