"""Every hold that came to be was asked for by an operation, for this resource and in this quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run

NAME = "nothing_unattempted_exists"


def test_a_hold_that_was_asked_for_is_valid_even_if_its_buyer_never_learned_of_it(run: Run) -> None:
    run.resource("r", capacity=5)
    run.commit(2, *run.recorded("k"), run.held("h1", "r", key="k"), run.counted("r", 1))
    run.operation("hold", "r", sent=1, done=None, key="k", outcome="info")
    finding = run.finding(NAME)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 1)


def test_a_hold_under_a_key_that_nobody_sent_is_caught(run: Run) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.commit(4, run.held("h2", "r", key="minted-inside"), run.counted("r", 2))
    assert run.violated() == {NAME}


def test_a_hold_of_more_seats_than_were_asked_for_is_caught(run: Run) -> None:
    run.resource("r", capacity=5)
    run.commit(2, *run.recorded("k"), run.held("h1", "r", key="k", quantity=2), run.counted("r", 2))
    run.operation("hold", "r", sent=1, done=3, key="k", outcome="info")
    assert run.violated() == {NAME}


def test_where_holds_keep_no_key_they_may_not_outnumber_the_attempts(run: Run) -> None:
    run.unmap("holds", "key")
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    assert NAME not in run.violated()
    run.commit(4, run.held("h2", "r"), run.counted("r", 2))
    assert run.violated() == {NAME}


def test_a_refused_attempt_cannot_account_for_a_hold_without_a_key(run: Run) -> None:
    run.unmap("holds", "key")
    run.resource("r", capacity=5)
    run.refused("r", sent=1, done=3, key="k", code="RESOURCE_REVISION_CONFLICT")
    run.commit(2, run.held("h1", "r"), run.counted("r", 1))
    assert run.violated() == {NAME}


def test_what_stood_there_before_the_run_needs_no_attempt(run: Run) -> None:
    run.resource("r", capacity=5, occupied=1)
    run.stood(run.held("old", "r", key="before"))
    run.sold("h1", "r", sent=1, commit=2, done=3, count=2)
    finding = run.finding(NAME)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 1)


def test_without_a_trail_nobody_knows_what_stood_there_before(run: Run) -> None:
    run.not_written |= {"base", "changes"}
    run.resource("r", capacity=5, occupied=1)
    run.stood(run.held("old", "r", key="before"))
    run.sold("h1", "r", sent=1, commit=2, done=3, count=2)
    finding = run.finding(NAME)
    assert (finding.judgement, finding.count) == (Judgement.UNKNOWN, 0)
