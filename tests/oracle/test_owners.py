"""Whose a row is, and who may end it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

OWNER = "only_the_owner_acts"


def sale(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k")


def handed(plane: Plane) -> None:
    sale(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    offered = (plane.hold("h1", state="CANCELLED"), *plane.promoted("e1", "o1"))
    plane.ends("cancel", "h1", *offered, sent=7, commit=8, done=9)


def accepted(plane: Plane, **about: Any) -> None:
    changes = (
        plane.offer("o1", "e1", state="ACCEPTED"),
        plane.entry("e1", state="ACCEPTED"),
        plane.reservation("b1", offer_id="o1", owner_digest="digest-e1"),
    )
    plane.ends("accept_offer", "o1", *changes, sent=10, commit=11, done=12, created="b1", **about)


def test_whom_the_offer_was_made_to_may_accept_it(plane: Plane) -> None:
    handed(plane)
    accepted(plane)
    finding = plane.finding(OWNER)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 2)


def test_a_stolen_offer_is_caught(plane: Plane) -> None:
    handed(plane)
    accepted(plane, owner="a stranger")
    assert plane.violated() == {OWNER}


def test_an_offer_that_was_stolen_by_somebody_who_never_learnt_of_it_is_caught(plane: Plane) -> None:
    handed(plane)
    accepted(plane, owner="a stranger", outcome="info")
    assert plane.judged(OWNER) is Judgement.INVALID


def test_a_stranger_who_was_refused_took_nothing(plane: Plane) -> None:
    handed(plane)
    plane.operation(
        "accept_offer", "o1", sent=10, done=11, key="x", outcome="fail", code="OWNER_MISMATCH", owner="y"
    )
    accepted(plane)
    assert plane.judged(OWNER) is Judgement.VALID


def test_whose_a_row_is_shows_by_its_key_where_nobody_was_told(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.operation("hold", "r", sent=1, done=4, key="k", outcome="info", owner="ann")
    plane.commit(2, *plane.recorded("k"), plane.hold("h1", idempotency_key="k"), plane.counted("r", 1))
    cancelled = (plane.hold("h1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel", "h1", *cancelled, sent=5, commit=6, done=7, owner="bob")
    assert plane.violated() == {OWNER}


def test_a_hold_that_ends_while_nobody_named_it_is_caught(plane: Plane) -> None:
    """Somebody gave back a hold that had run out, and it was another that ended."""
    sale(plane)
    plane.sold("h2", "r", sent=4, commit=5, done=6, count=1)
    cancelled = (plane.hold("h1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel", "h2", *cancelled, sent=7, commit=8, done=9)
    assert plane.judged(OWNER) is Judgement.INVALID


def ended_unasked(plane: Plane) -> None:
    sale(plane)
    plane.commit(5, plane.hold("h1", state="CANCELLED"), plane.counted("r", 0))


def test_who_asks_only_later_does_not_excuse_an_end(plane: Plane) -> None:
    ended_unasked(plane)
    plane.operation("cancel", "h1", sent=20, done=21, key="c", outcome="info", owner=plane.owner_of("h1"))
    assert plane.judged(OWNER) is Judgement.INVALID


def test_who_was_refused_does_not_excuse_an_end(plane: Plane) -> None:
    ended_unasked(plane)
    about = {"outcome": "fail", "code": "OWNER_MISMATCH", "owner": "a stranger"}
    plane.operation("cancel", "h1", sent=4, done=6, key="c", **about)
    assert plane.judged(OWNER) is Judgement.INVALID


def test_an_owner_who_asks_only_later_does_not_excuse_a_stranger(plane: Plane) -> None:
    ended_unasked(plane)
    owner = plane.owner_of("h1")
    plane.operation("cancel", "h1", sent=4, done=None, key="x", outcome="info", owner="a stranger")
    plane.operation("cancel", "h1", sent=20, done=21, key="c", outcome="info", owner=owner)
    assert plane.judged(OWNER) is Judgement.INVALID


@pytest.mark.parametrize("key", ["c", "another"])
def test_who_is_refused_because_an_earlier_attempt_had_ended_it_had_asked(plane: Plane, key: str) -> None:
    ended_unasked(plane)
    owner = plane.owner_of("h1")
    plane.operation("cancel", "h1", sent=4, done=None, key="c", outcome="info", owner=owner)
    refused = {"outcome": "fail", "code": "HOLD_NOT_ACTIVE", "owner": owner}
    plane.operation("cancel", "h1", sent=7, done=8, key=key, attempt=2, **refused)
    assert plane.judged(OWNER) is Judgement.VALID


def test_of_two_who_cancel_at_once_one_had_asked(plane: Plane) -> None:
    sale(plane)
    owner = plane.owner_of("h1")
    refused = {"outcome": "fail", "code": "HOLD_NOT_ACTIVE", "owner": owner}
    plane.operation("cancel", "h1", sent=4, done=9, key="second tab", **refused)
    over = (plane.hold("h1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel", "h1", *over, sent=4.5, commit=5, done=6)
    assert plane.judged(OWNER) is Judgement.VALID


def test_who_asked_first_is_not_known_where_the_clocks_were_moved(plane: Plane) -> None:
    ended_unasked(plane)
    plane.sold("h2", "r", sent=6, commit=7, done=8, count=1)
    over = (plane.hold("h2", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel", "h2", *over, sent=9, commit=10, done=11)
    plane.operation("cancel", "h1", sent=40, done=41, key="c", outcome="info", owner=plane.owner_of("h1"))
    for at, stepped_ms in ((20, 30), (21, 60)):
        plane.clock("postgres", at, stepped_ms=stepped_ms)
    finding = plane.finding(OWNER)
    assert finding.judgement is Judgement.UNKNOWN
    assert "clocks_comparable" in (finding.reason or "")


def test_a_stolen_offer_is_caught_whatever_the_clocks_say(plane: Plane) -> None:
    handed(plane)
    accepted(plane, owner="a stranger")
    plane.clocks.clear()
    assert plane.judged(OWNER) is Judgement.INVALID


def test_who_is_sent_away_by_a_closing_was_named_by_nobody(plane: Plane) -> None:
    sale(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.commit(8, plane.entry("e1", state="LEFT", reason="CLOSED"), plane.counted("r", 1, state="CLOSED"))
    assert plane.judged(OWNER) is not Judgement.INVALID


def test_who_has_left_the_line_for_no_stated_reason_may_have_been_sent_away(plane: Plane) -> None:
    plane.unmap("waitlist_entries", "reason")
    sale(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.commit(8, plane.entry("e1", state="LEFT"), plane.counted("r", 1, state="CLOSED"))
    assert plane.judged(OWNER) is not Judgement.INVALID


def test_an_offer_to_somebody_who_did_not_wait_is_caught(plane: Plane) -> None:
    sale(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    offered = (
        plane.hold("h1", state="CANCELLED"),
        *plane.promoted("e1", "o1", owner_digest="digest-of-another"),
    )
    plane.ends("cancel", "h1", *offered, sent=7, commit=8, done=9)
    assert plane.violated() == {OWNER}


def test_a_cancelled_reservation_belongs_to_whom_the_hold_belonged(plane: Plane) -> None:
    sale(plane)
    confirmed = (plane.hold("h1", state="CONFIRMED"), plane.reservation("b1", hold_id="h1"))
    plane.ends("confirm", "h1", *confirmed, sent=4, commit=5, done=6, created="b1")
    over = (plane.reservation("b1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel_reservation", "b1", *over, sent=7, commit=8, done=9, owner="a stranger")
    assert plane.violated() == {OWNER}
