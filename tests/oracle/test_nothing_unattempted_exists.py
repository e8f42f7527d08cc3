"""Every hold, and every place in the line, that came to be was asked for by an operation, for this resource and in this quantity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane
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


def test_a_place_in_the_line_under_a_key_that_nobody_sent_is_caught(line: Plane) -> None:
    line.commit(7, line.entry("e2", idempotency_key="minted-inside", seq=2))
    assert line.violated() == {NAME}


def test_a_place_in_another_line_than_was_asked_for_is_caught(line: Plane) -> None:
    line.resource("s", capacity=1)
    line.commit(7, line.entry("e2", "s", idempotency_key="k", seq=2))
    line.operation("join_waitlist", "r", sent=6, done=9, key="k", outcome="info")
    assert line.judged(NAME) is Judgement.INVALID


@pytest.mark.parametrize("kind", ["join_waitlist", "hold"])
def test_a_place_of_which_its_waiter_never_learned_was_asked_for(line: Plane, kind: str) -> None:
    """Whoever finds no seat may be let into the line at once."""
    line.commit(7, line.entry("e2", idempotency_key="k", seq=2))
    line.operation(kind, "r", sent=6, done=None, key="k", outcome="info", quantity=2)
    assert line.judged(NAME) is Judgement.VALID


@pytest.mark.parametrize("key", ["", None], ids=["empty", "none"])
def test_where_places_keep_no_key_they_may_not_outnumber_those_who_asked(
    line: Plane, key: str | None
) -> None:
    line.rows["waitlist_entries", "e1"]["idempotency_key"] = key
    assert line.judged(NAME) is Judgement.VALID
    for number in (2, 3):
        line.commit(5 + number, line.entry(f"e{number}", idempotency_key=key, seq=number))
    assert line.judged(NAME) is Judgement.INVALID
    line.operation("join_waitlist", "r", sent=6, done=9, key="k", outcome="info")
    assert line.judged(NAME) is Judgement.VALID


def test_who_stood_in_line_before_the_run_needs_no_attempt(line: Plane) -> None:
    line.stood(line.entry("old", idempotency_key="before", seq=0))
    assert line.judged(NAME) is Judgement.VALID
