"""There are never more permits out than there are, at rest or while the load runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

NAME = "permits_return"


@pytest.fixture
def rested(plane: Plane) -> Plane:
    """Eight permits, all back at rest."""
    plane.operation("read", "r", sent=1, done=200)
    for metric, value in (("permits_max", 8), ("permit_lease_seconds", 0.05), ("permits", 0)):
        plane.sample("redis", metric, value, at=900)
    return plane


@pytest.mark.parametrize(("out", "judgement"), [(8, Judgement.VALID), (9, Judgement.INVALID)])
def test_more_permits_out_during_the_load_than_there_are_is_caught(
    rested: Plane, out: int, judgement: Judgement
) -> None:
    rested.sample("redis", "permits_out", out, at=100)
    assert rested.judged(NAME) is judgement


def test_permits_that_are_still_out_before_the_last_look_may_have_a_lease(rested: Plane) -> None:
    rested.sample("redis", "permits_out", 3, at=500)
    assert rested.judged(NAME) is Judgement.VALID


@pytest.mark.parametrize("limit", ["permits_max", "permit_lease_seconds"])
def test_where_a_limit_is_not_known_nobody_knows_whether_it_was_kept(rested: Plane, limit: str) -> None:
    assert rested.judged(NAME) is Judgement.VALID
    rested.samples = [sample for sample in rested.samples if sample["metric"] != limit]
    assert rested.judged(NAME) is Judgement.UNKNOWN


def test_without_a_look_at_rest_nobody_knows_whether_they_came_back(plane: Plane) -> None:
    plane.operation("read", "r", sent=1, done=2)
    plane.sample("redis", "permits_max", 8)
    plane.sample("redis", "permits_out", 0, at=100)
    assert plane.judged(NAME) is Judgement.UNKNOWN
