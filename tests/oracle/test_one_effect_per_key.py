"""However often an idempotency key is sent, it makes at most one hold, or one place in the line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane
    from tests.oracle.by_hand.run import Run

NAME = "one_effect_per_key"


def test_twins_that_are_told_of_the_same_hold_are_valid(run: Run) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k")
    run.operation("hold", "r", sent=1, done=4, key="k", created="h1", replayed=True)
    finding = run.finding(NAME)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 1)


def test_two_holds_under_one_key_are_caught(run: Run) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k")
    run.sold("h2", "r", sent=1, commit=4, done=5, count=2, key="k")
    assert run.violated() == {NAME}


def test_a_retry_after_a_lost_answer_that_makes_a_second_hold_is_caught(run: Run) -> None:
    run.resource("r", capacity=5)
    run.commit(2, *run.recorded("k"), run.held("h1", "r", key="k"), run.counted("r", 1))
    run.operation("hold", "r", sent=1, done=20, key="k", outcome="info")
    run.sold("h2", "r", sent=21, commit=22, done=23, count=2, key="k", attempt=2)
    assert run.violated() == {NAME}


def test_where_holds_keep_no_key_the_answers_tell(run: Run) -> None:
    run.unmap("holds", "key")
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k")
    run.sold("h2", "r", sent=1, commit=4, done=5, count=2, key="k")
    assert run.violated() == {NAME}


def test_the_same_key_of_another_tenant_is_another_key(run: Run) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k")
    other = run.held("h2", "r", key="k")
    run.commit(4, run.told_of(other, tenant="u"), run.counted("r", 2))
    run.operation("hold", "r", sent=1, done=5, key="k", created="h2", tenant="u")
    assert run.violated() == set()


def test_two_places_in_the_line_under_one_key_are_caught(line: Plane) -> None:
    line.commit(7, line.entry("e2", idempotency_key="key-e1", seq=2))
    assert line.violated() == {NAME}


def test_where_entries_keep_no_key_the_answers_tell(line: Plane) -> None:
    line.unmap("waitlist_entries", "key")
    line.commit(7, line.entry("e2", seq=2))
    again: dict[str, Any] = {"key": "key-e1", "created": "e2", "owner": line.owner_of("e1")}
    line.operation("join_waitlist", "r", sent=6.5, done=8, **again)
    assert line.judged(NAME) is Judgement.INVALID


@pytest.mark.parametrize("key", ["", None], ids=["empty", "none"])
def test_what_was_made_without_a_key_has_none_in_common(line: Plane, key: str | None) -> None:
    for number in (2, 3):
        line.commit(5 + number, line.entry(f"e{number}", idempotency_key=key, seq=number))
    assert line.judged(NAME) is Judgement.VALID


def test_the_key_of_a_hold_may_be_that_of_a_place_in_the_line(line: Plane) -> None:
    line.commit(7, line.entry("e2", idempotency_key="key-h1", seq=2))
    assert line.judged(NAME) is Judgement.VALID


def test_the_witness_tells_every_attempt_and_what_came_of_it(run: Run) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k")
    run.sold("h2", "r", sent=4, commit=5, done=6, count=2, key="k", attempt=2)
    told = [(line.at_ms, line.what) for line in run.finding(NAME).witness]
    assert told == [
        (1.0, "sends hold on #r to node a"),
        (2.0, "is ACTIVE on r × 1 (xid 700)"),
        (3.0, "is told ok 201, hold h1"),
        (4.0, "sends hold on #r to node a, attempt 2"),
        (5.0, "is ACTIVE on r × 1 (xid 701)"),
        (6.0, "is told ok 201, hold h2"),
        (6.0, "tenant t, key k, effects 2, holds h1, h2"),
    ]
