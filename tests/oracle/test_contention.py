"""Whether transactions contended for a resource where there is no barrier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.assumptions import contended_by_resource

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run


def took(run: Run, hold: str, resource: str, *, at: float) -> None:
    """One transaction that takes a seat; numbers are given in the order of the calls."""
    run.commit(at, run.held(hold, resource), run.counted(resource, 1))


@pytest.fixture
def two(run: Run) -> Run:
    for resource in ("r", "s"):
        run.resource(resource, capacity=9)
    return run


def test_who_has_its_number_before_another_commits_and_commits_after_it_contended(two: Run) -> None:
    took(two, "h1", "r", at=20)  # has the lower number
    took(two, "h2", "r", at=10)
    premise = two.premise(contended_by_resource(at_least=1))
    assert (premise.holds, premise.measured) == (True, "1 of 2")
    assert not two.premise(contended_by_resource(at_least=2)).holds


def test_a_number_was_given_before_whatever_bears_a_higher_one_changed_anything(two: Run) -> None:
    took(two, "h1", "r", at=10)
    took(two, "h2", "r", at=20)
    assert not two.premise(contended_by_resource(at_least=1)).holds
    record, _ = two.recorded("k")
    two.commit(9, record)  # of no resource, and after the number of h2
    assert two.premise(contended_by_resource(at_least=1)).holds


def test_one_after_the_other_behind_a_lock_of_all_did_not_contend_however_many_were_under_way(
    two: Run,
) -> None:
    for number in range(9):
        took(two, f"h{number}", "r", at=10 + number)
        two.operation("hold", "r", sent=1, done=90, key=f"k{number}", created=f"h{number}")
    premise = two.premise(contended_by_resource(at_least=1))
    assert (premise.holds, premise.measured) == (False, "0 of 9")


def test_side_by_side_at_two_resources_is_no_contention(two: Run) -> None:
    took(two, "h1", "r", at=20)
    took(two, "h2", "s", at=10)
    assert not two.premise(contended_by_resource(at_least=1)).holds


def test_numbers_that_wrap_around_still_rise(two: Run) -> None:
    took(two, "h1", "r", at=20)
    took(two, "h2", "r", at=10)
    two.commits[0]["xid"], two.commits[1]["xid"] = 2**32 - 1, 3
    assert two.premise(contended_by_resource(at_least=1)).holds
    two.commits[0]["xid"], two.commits[1]["xid"] = 3, 2**32 - 1
    assert not two.premise(contended_by_resource(at_least=1)).holds


def test_without_a_trail_nothing_is_known(two: Run) -> None:
    took(two, "h1", "r", at=20)
    took(two, "h2", "r", at=10)
    two.not_written |= {"changes"}
    premise = two.premise(contended_by_resource(at_least=1))
    assert (premise.holds, "no trail was recorded" in premise.measured) == (False, True)
