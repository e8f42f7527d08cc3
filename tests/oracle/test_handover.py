"""How seats change hands: without a gap, in the order of the line, past no one, and only while the resource is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

NO_GAP, FIFO, NEWCOMERS, OPEN = (
    "no_gap_in_handover",
    "fifo_handover",
    "newcomers_never_overtake",
    "offers_only_while_open",
)


def sold_out(plane: Plane, *, capacity: int = 1) -> None:
    plane.resource("r", capacity=capacity)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=capacity, quantity=capacity)


def cancelled(plane: Plane, *changes: Any, at: float) -> None:
    plane.ends(
        "cancel", "h1", plane.hold("h1", state="CANCELLED"), *changes, sent=at - 1, commit=at, done=at + 1
    )


def test_a_seat_that_falls_free_when_nobody_waits_is_no_gap(plane: Plane) -> None:
    sold_out(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.ends(
        "leave_waitlist", "e1", plane.entry("e1", state="LEFT", reason="LEFT"), sent=7, commit=8, done=9
    )
    cancelled(plane, plane.counted("r", 0), at=11)
    assert plane.violated() == set()


def test_of_three_seats_the_one_that_is_waited_for_changes_hands_and_two_fall_free(plane: Plane) -> None:
    sold_out(plane, capacity=3)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    cancelled(plane, *plane.promoted("e1", "o1"), plane.counted("r", 1), at=8)
    assert plane.violated() == set()


def test_seats_that_are_added_go_to_those_who_wait(plane: Plane) -> None:
    sold_out(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.joins("e2", sent=7, commit=8, done=9, seq=2)
    plane.commit(11, *plane.promoted("e1", "o1"), plane.counted("r", 2, capacity="2"))
    assert plane.violated() == set()


def test_a_seat_that_is_added_and_offered_to_nobody_is_caught(plane: Plane) -> None:
    sold_out(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.commit(8, plane.counted("r", 1, capacity="2"))
    assert plane.judged(NO_GAP) is Judgement.INVALID


def test_those_who_are_sent_away_when_the_resource_closes_leave_no_gap(plane: Plane) -> None:
    sold_out(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    gone = plane.entry("e1", state="LEFT", reason="CLOSED")
    plane.commit(8, gone, plane.counted("r", 1, state="CLOSED"))
    cancelled(plane, plane.counted("r", 0), at=11)
    assert plane.violated() == set()


def test_a_gap_in_the_numbers_is_no_gap_in_the_line(plane: Plane) -> None:
    sold_out(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=3)
    plane.joins("e2", sent=7, commit=8, done=9, seq=90)
    cancelled(plane, *plane.promoted("e1", "o1"), at=11)
    assert plane.violated() == set()


@pytest.mark.parametrize("first_done", [6, 20])
def test_who_had_joined_before_another_asked_is_ahead_whatever_the_numbers_say(
    plane: Plane, first_done: float
) -> None:
    sold_out(plane)
    plane.joins("e1", sent=4, commit=5, done=first_done, seq=2)
    plane.joins("e2", sent=7, commit=8, done=9, seq=1)
    cancelled(plane, *plane.promoted("e2", "o1"), at=31)
    assert plane.judged(FIFO) is (Judgement.INVALID if first_done == 6 else Judgement.VALID)


def test_who_joined_while_the_seat_was_changing_hands_may_not_have_been_seen(plane: Plane) -> None:
    sold_out(plane)
    plane.joins("e2", sent=4, commit=5, done=6, seq=2)
    plane.joins("e1", sent=4, commit=9.98, done=20, seq=1)
    cancelled(plane, *plane.promoted("e2", "o1"), at=10)
    assert plane.judged(FIFO) is Judgement.VALID


def test_two_who_are_offered_seats_in_one_commit_are_in_order(plane: Plane) -> None:
    sold_out(plane, capacity=2)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.joins("e2", sent=7, commit=8, done=9, seq=2)
    cancelled(plane, *plane.promoted("e2", "o2"), *plane.promoted("e1", "o1"), at=11)
    assert plane.judged(FIFO) is Judgement.VALID


@pytest.mark.parametrize(("second", "judgement"), [("e1", Judgement.INVALID), ("e2", Judgement.VALID)])
def test_one_place_in_the_line_is_offered_one_seat(plane: Plane, second: str, judgement: Judgement) -> None:
    plane.resource("r", capacity=2)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.sold("h2", "r", sent=4, commit=5, done=6, count=2)
    plane.joins("e1", sent=7, commit=8, done=9, seq=1)
    plane.joins("e2", sent=10, commit=11, done=12, seq=2)
    cancelled(plane, *plane.promoted("e1", "o1"), at=14)
    handed = plane.entry(second, state="OFFERED"), plane.offer("o2", second)
    plane.ends("cancel", "h2", plane.hold("h2", state="CANCELLED"), *handed, sent=16, commit=17, done=18)
    assert plane.judged(FIFO) is judgement


def test_a_hold_after_the_waiter_had_left_overtakes_nobody(plane: Plane) -> None:
    sold_out(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.ends(
        "leave_waitlist", "e1", plane.entry("e1", state="LEFT", reason="LEFT"), sent=7, commit=8, done=9
    )
    cancelled(plane, plane.counted("r", 0), at=11)
    plane.sold("h2", "r", sent=13, commit=14, done=15, count=1)
    finding = plane.finding(NEWCOMERS)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 2)


def test_a_hold_that_had_begun_before_the_waiter_joined_overtakes_nobody(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.joins("e1", sent=1, commit=5, done=6, seq=1)
    plane.sold("h1", "r", sent=1, commit=7, done=8, count=1, opened=4)
    assert plane.judged(NEWCOMERS) is Judgement.VALID


def test_somebody_who_waits_for_another_resource_is_not_overtaken(plane: Plane) -> None:
    plane.resource("s", capacity=1)
    plane.joins("e1", "s", sent=1, commit=2, done=3, seq=1)
    plane.resource("r", capacity=1)
    plane.joins("e2", "r", sent=10, commit=11, done=12, seq=2)
    plane.sold("h1", "r", sent=4, commit=5, done=6, count=1)
    assert plane.judged(NEWCOMERS) is Judgement.VALID


def test_what_is_live_when_a_resource_closes_may_still_end_either_way(plane: Plane) -> None:
    sold_out(plane)
    plane.commit(5, plane.counted("r", 1, state="CLOSED"))
    confirmed = (plane.hold("h1", state="CONFIRMED"), plane.reservation("b1", hold_id="h1"))
    plane.ends("confirm", "h1", *confirmed, sent=7, commit=8, done=9, created="b1")
    assert plane.violated() == set()


def test_a_hold_of_a_closed_resource_is_caught(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.commit(1, plane.counted("r", 0, state="CLOSED"))
    plane.sold("h1", "r", sent=2, commit=3, done=4, count=1)
    assert plane.violated() == {OPEN}


def test_an_offer_in_the_commit_that_closes_is_caught(plane: Plane) -> None:
    sold_out(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    closing = (*plane.promoted("e1", "o1"), plane.counted("r", 2, state="CLOSED", capacity="2"))
    plane.commit(8, *closing)
    assert plane.violated() == {OPEN}


def test_a_hold_that_had_begun_when_the_resource_closed_may_not_have_seen_it(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.commit(4, plane.counted("r", 0, state="CLOSED"))
    plane.sold("h1", "r", sent=2, commit=5, done=6, count=1, opened=3)
    assert plane.judged(OPEN) is Judgement.VALID
