"""Nobody is told that the time of a hold or an offer is over while it lives and has time left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement
from tests.oracle.by_hand.instants import printed_at

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

NAME = "expired_is_true"
UNTIL = 50


def sale(plane: Plane, *, until: float = UNTIL) -> None:
    """A hold that lives until then, and is swept after it."""
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.rows["holds", "h1"]["expires_at"] = printed_at(until)


def told(plane: Plane, *, done: float, sent: float = 4, **about: object) -> None:
    """Somebody who would confirm the hold is told that its time is over."""
    plane.told_expired("confirm", "h1", sent=sent, commit=(sent + done) / 2, done=done, **about)


def judged(plane: Plane) -> Judgement:
    """What is said of it where only holds that were looked at can be valid."""
    plane.sold("h9", "r", sent=700, commit=701, done=702, count=1)
    plane.rows["holds", "h9"]["expires_at"] = printed_at(900)
    cancelled = (plane.hold("h9", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel", "h9", *cancelled, sent=703, commit=704, done=705)
    return plane.judged(NAME)


@pytest.mark.parametrize("done", [6, 49.9])
def test_a_refusal_before_the_time_is_over_is_caught(plane: Plane, done: float) -> None:
    sale(plane)
    told(plane, done=done)
    assert judged(plane) is Judgement.INVALID


@pytest.mark.parametrize("done", [UNTIL, 50.1, 600])
def test_a_refusal_after_it_is_true(plane: Plane, done: float) -> None:
    sale(plane)
    told(plane, done=done)
    assert judged(plane) is Judgement.VALID


@pytest.mark.parametrize("kind", ["confirm", "cancel"])
def test_whatever_was_wanted_of_the_hold(plane: Plane, kind: str) -> None:
    sale(plane)
    plane.told_expired(kind, "h1", sent=4, commit=5, done=6)
    assert judged(plane) is Judgement.INVALID


@pytest.mark.parametrize(("done", "expected"), [(20, Judgement.INVALID), (51, Judgement.VALID)])
@pytest.mark.parametrize("kind", ["accept_offer", "decline_offer"])
def test_offers_have_their_time_too(plane: Plane, kind: str, done: float, expected: Judgement) -> None:
    sale(plane, until=900)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    cancelled = (plane.hold("h1", state="CANCELLED"), *plane.promoted("e1", "o1", until=UNTIL))
    plane.ends("cancel", "h1", *cancelled, sent=7, commit=8, done=9)
    plane.told_expired(kind, "o1", sent=10, commit=11, done=done, code="OFFER_EXPIRED")
    assert judged(plane) is expected


def test_an_answer_as_close_to_the_end_as_the_clocks_are_apart_proves_nothing(plane: Plane) -> None:
    sale(plane)
    told(plane, done=UNTIL - 0.3)
    for process in ("postgres", "load-0"):
        plane.clock(process, 100, slack_ms=0.4)
    assert judged(plane) is Judgement.VALID


@pytest.mark.parametrize("state", ["CONFIRMED", "CANCELLED", "EXPIRED"])
def test_of_what_had_ended_before_the_answer_any_word_is_true(plane: Plane, state: str) -> None:
    sale(plane)
    plane.commit(8, plane.hold("h1", state=state), plane.counted("r", 0))
    told(plane, done=10)
    assert judged(plane) is Judgement.VALID


def test_a_state_that_no_rule_knows_may_be_an_end(plane: Plane) -> None:
    sale(plane)
    plane.commit(8, plane.hold("h1", state="LAPSED"), plane.counted("r", 0))
    told(plane, done=10)
    assert judged(plane) is Judgement.UNKNOWN


def test_so_it_is_of_what_was_deleted(plane: Plane) -> None:
    sale(plane)
    plane.commit(8, plane.removed("h1"), plane.counted("r", 0))
    told(plane, done=10)
    assert judged(plane) is Judgement.VALID


def test_an_end_that_was_committed_after_the_answer_is_no_excuse(plane: Plane) -> None:
    sale(plane)
    told(plane, done=10)
    plane.commit(12, plane.hold("h1", state="EXPIRED"), plane.counted("r", 0))
    assert judged(plane) is Judgement.INVALID


def test_a_replay_after_the_end_was_decided_some_time_before_it_was_told(plane: Plane) -> None:
    sale(plane)
    plane.operation("confirm", "h1", sent=4, done=None, outcome="info", key="late")
    told(plane, sent=40, done=51, key="late", replayed=True, attempt=2)
    assert judged(plane) is Judgement.VALID


def test_a_replay_before_the_end_was_decided_even_sooner(plane: Plane) -> None:
    sale(plane)
    plane.operation("confirm", "h1", sent=4, done=None, outcome="info", key="late")
    told(plane, sent=8, done=10, key="late", replayed=True, attempt=2)
    assert judged(plane) is Judgement.INVALID


def test_when_the_sale_is_closed_offers_may_lapse_before_anybody_writes_so(plane: Plane) -> None:
    sale(plane)
    plane.commit(8, plane.counted("r", 1, state="CLOSED"))
    told(plane, done=10)
    assert judged(plane) is Judgement.VALID


def test_a_sale_that_is_closed_after_the_answer_is_no_excuse(plane: Plane) -> None:
    sale(plane)
    told(plane, done=10)
    plane.commit(12, plane.counted("r", 1, state="CLOSED"))
    assert judged(plane) is Judgement.INVALID


@pytest.mark.parametrize("until", [5, 800])
def test_what_counts_is_the_deadline_that_it_was_made_with(plane: Plane, until: float) -> None:
    sale(plane)
    plane.commit(4.5, plane.hold("h1", expires_at=printed_at(until)))
    told(plane, done=10)
    assert judged(plane) is Judgement.INVALID


def test_a_deadline_that_is_put_off_takes_nothing_back(plane: Plane) -> None:
    sale(plane)
    plane.commit(4.5, plane.hold("h1", expires_at=printed_at(800)))
    told(plane, done=60)
    assert judged(plane) is Judgement.VALID


def test_another_word_is_no_word_about_the_time(plane: Plane) -> None:
    sale(plane)
    told(plane, done=10)
    plane.operations[-1]["code"] = "OWNER_MISMATCH"
    assert judged(plane) is Judgement.VALID


def test_what_has_no_deadline_proves_nothing(plane: Plane) -> None:
    sale(plane)
    del plane.rows["holds", "h1"]["expires_at"]
    told(plane, done=10)
    assert judged(plane) is Judgement.VALID


def test_where_nobody_was_answered_in_time_nothing_was_looked_at(plane: Plane) -> None:
    sale(plane)
    told(plane, done=60)
    finding = plane.finding(NAME)
    assert (finding.judgement, finding.looked_at) == (Judgement.UNKNOWN, 0)


def test_a_target_without_a_word_for_it_is_not_looked_at(plane: Plane) -> None:
    sale(plane)
    told(plane, done=10)
    plane.given(refusals={})
    assert judged(plane) is Judgement.UNKNOWN


def test_a_target_without_deadlines_cannot_be_judged(plane: Plane) -> None:
    sale(plane)
    told(plane, done=10)
    plane.unmap("holds", "expires_us")
    finding = plane.finding(NAME)
    assert finding.judgement is Judgement.UNKNOWN
    assert "expires_us" in (finding.reason or "")


def test_clocks_that_cannot_be_compared_convict_nobody(plane: Plane) -> None:
    sale(plane)
    told(plane, done=10)
    plane.clock("postgres", 20, stepped_ms=30)
    finding = plane.finding(NAME)
    assert finding.judgement is Judgement.UNKNOWN
    assert "clocks_comparable" in (finding.reason or "")


def test_the_witness_tells_how_much_time_there_was(plane: Plane) -> None:
    sale(plane)
    told(plane, done=10)
    (shown,) = plane.finding(NAME).counter_examples
    assert (shown["hold"], shown["resource"], shown["kind"]) == ("h1", "r", "confirm")
    assert str(shown["but"]).startswith("it had at least 39")
