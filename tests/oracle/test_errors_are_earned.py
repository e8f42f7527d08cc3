"""Whoever is failed while nothing is broken was failed by the service, be it by a word or by a door that was shut."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement

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


@pytest.mark.parametrize(("at", "judgement"), [(15, Judgement.VALID), (2_000, Judgement.INVALID)])
def test_a_node_may_be_away_while_something_is_broken(plane: Plane, at: float, judgement: Judgement) -> None:
    plane.broken(since=10, until=20)
    shut_out(plane, "refused", at=at)
    assert plane.judged(NAME) is judgement


def test_who_waited_in_vain_may_have_waited_for_the_machine(plane: Plane) -> None:
    plane.operation("hold", "r", sent=1, done=5_001, outcome="info", key="k")
    plane.operation("read", "r", sent=1, done=2)
    assert plane.judged(NAME) is Judgement.VALID
