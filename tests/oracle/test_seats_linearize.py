"""Commits happen while they are asked for and not yet answered, and in the order in which buyers saw them happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.verdict import Judgement

if TYPE_CHECKING:
    import pytest

    from tests.oracle.by_hand.plane import Plane

NAME = "seats_linearize"
WITHOUT = "seats_linearize_without_trail"


def sale(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)


def test_a_commit_between_question_and_answer_is_valid(plane: Plane) -> None:
    sale(plane)
    assert plane.judged(NAME) is Judgement.VALID


def test_a_commit_before_its_question_is_caught(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.sold("h1", "r", sent=4, commit=2, done=5, count=1)
    assert plane.violated() == {NAME}


def test_a_retry_is_told_of_what_its_first_attempt_did(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.operation("hold", "r", sent=1, done=10, key="k", outcome="info")
    plane.commit(2, *plane.recorded("k"), plane.hold("h1", idempotency_key="k"), plane.counted("r", 1))
    plane.operation("hold", "r", sent=11, done=12, key="k", created="h1", replayed=True)
    assert plane.violated() == set()


def test_one_who_never_learnt_may_be_served_long_after_but_not_before_asking(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.operation("hold", "r", sent=3, done=4, key="k", outcome="info")
    plane.commit(90, *plane.recorded("k"), plane.hold("h1", idempotency_key="k"), plane.counted("r", 1))
    assert plane.judged(NAME) is Judgement.VALID
    plane.commits[0] |= {"at": 2}
    assert plane.judged(NAME) is Judgement.INVALID


def test_an_order_that_buyers_saw_otherwise_is_caught_whatever_the_clocks_say(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    for name, at, place in (("h2", 5, 3.0), ("h1", 2, 9.0)):
        change = (*plane.recorded(f"key-{name}"), plane.hold(name, idempotency_key=f"key-{name}"))
        plane.commit(at, *change, plane.counted("r", 1 if name == "h2" else 2), lsn=place)
        plane.operation("hold", "r", sent=at - 1, done=at + 1, key=f"key-{name}", created=name)
    assert plane.judged(NAME) is Judgement.INVALID


def test_without_a_trail_what_is_not_told_in_full_is_left_alone(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.commit(5, plane.hold("h1", state="EXPIRED"), plane.counted("r", 0))
    plane.sold("h2", "r", sent=6, commit=7, done=8, count=1)
    assert plane.finding(WITHOUT).reason == "there was nothing to look at"


def test_without_a_trail_attempts_under_one_key_take_one_seat(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.operation("hold", "r", sent=1, done=4, key="key-h1", outcome="info")
    plane.sold("h1", "r", sent=5, commit=6, done=7, count=1, replayed=True)
    plane.told_sold_out("r", sent=8, commit=9, done=10, key="late")
    finding = plane.finding(WITHOUT)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 2)


def test_without_a_trail_a_cancelled_reservation_gives_its_seat_back(plane: Plane) -> None:
    sale(plane)
    plane.rows["resources", "r"]["capacity"] = "1"
    confirmed = (plane.hold("h1", state="CONFIRMED"), plane.reservation("b1", hold_id="h1"))
    plane.ends("confirm", "h1", *confirmed, sent=4, commit=5, done=6, created="b1")
    over = (plane.reservation("b1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel_reservation", "b1", *over, sent=7, commit=8, done=9)
    plane.sold("h2", "r", sent=10, commit=11, done=12, count=1)
    assert plane.judged(WITHOUT) is Judgement.VALID


def test_a_search_that_is_given_up_is_no_verdict(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    sale(plane)
    monkeypatch.setattr("checker.linear.Work.__init__.__defaults__", (0,))
    monkeypatch.setattr("checker.linear.is_explained", lambda *_: False)  # so that it must be searched
    finding = plane.finding(WITHOUT)
    assert finding.judgement is Judgement.UNKNOWN
    assert "the search was given up" in (finding.reason or "")
