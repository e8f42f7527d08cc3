"""At every commit and at rest, what a resource counts as occupied is the sum of its live claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run

NAME = "occupancy_matches_claims"


def test_a_counter_that_moves_with_its_rows_is_valid(run: Run) -> None:
    run.resource("r", capacity=2)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.commit(4, run.held("h1", "r", state="CANCELLED"), run.counted("r", 0))
    finding = run.finding(NAME)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 2)


def test_a_lost_update_of_the_counter_is_caught(run: Run) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.sold("h2", "r", sent=1, commit=4, done=5, count=1)
    assert run.violated() == {NAME}


def test_a_drift_that_was_mended_by_the_end_is_caught(run: Run) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=2)
    run.commit(4, run.counted("r", 1))
    finding = run.finding(NAME)
    assert [(row["commit_lsn"], row["occupied"], row["claimed"]) for row in finding.counter_examples] == [
        (1_002_000, 2, 1)
    ]


def test_a_hold_that_ends_without_giving_its_seats_back_is_caught(run: Run) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=3, quantity=3)
    run.commit(4, run.held("h1", "r", state="EXPIRED", quantity=3), run.counted("r", 2))
    assert run.violated() == {NAME}


def test_a_claim_on_another_resource_counts_there(run: Run) -> None:
    run.resource("r", capacity=5)
    run.resource("s", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.sold("h2", "s", sent=1, commit=2.5, done=3, count=1)
    assert run.violated() == set()


def test_what_stood_there_before_the_run_is_counted_too(run: Run) -> None:
    run.resource("r", capacity=5, occupied=1)
    run.stood(run.held("old", "r", key="before"))
    run.sold("h1", "r", sent=1, commit=2, done=3, count=2)
    assert run.violated() == set()


def test_a_counter_beside_the_rows_at_rest_is_caught_where_no_commit_touched_it(run: Run) -> None:
    run.resource("idle", capacity=5, occupied=1)
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    (example,) = run.finding(NAME).counter_examples
    assert example == {"commit_lsn": None, "resource": "idle", "occupied": 1, "claimed": 0}


def test_a_service_without_a_counter_is_not_offered_it(run: Run) -> None:
    run.unmap("resources", "occupied")
    assert run.finding(NAME).reason == "not offered: the target's resources have no occupied"
