"""What a buyer was told is hers is not taken out of the database before its time, unless somebody asked for its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from checker.verdict import Judgement
from tests.oracle.by_hand.instants import printed_at
from tests.oracle.by_hand.target import Change

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

NAME = "nothing_is_taken_away"
LATE: dict[str, Any] = {"sent": 60, "done": 61, "outcome": "info"}
REFUSED: dict[str, Any] = {"sent": 48, "done": 51, "outcome": "fail"}
UNANSWERED: dict[str, Any] = {"sent": 48, "done": None, "outcome": "info"}


@pytest.fixture
def house(plane: Plane) -> Plane:
    """Three seats: one confirmed, one held, one offered to the first of two in the line."""
    plane.resource("r", capacity=3)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.sold("h2", "r", sent=4, commit=5, done=6, count=2)
    plane.sold("h3", "r", sent=7, commit=8, done=9, count=3)
    for hold in ("h1", "h2", "h3"):
        plane.rows["holds", hold]["expires_at"] = printed_at(900)
    confirmed = (
        plane.hold("h1", state="CONFIRMED"),
        plane.reservation("b1", hold_id="h1", owner_digest="digest"),
    )
    plane.ends("confirm", "h1", *confirmed, sent=10, commit=11, done=12, created="b1")
    plane.joins("e1", sent=20, commit=21, done=22, seq=1)
    plane.joins("e2", sent=23, commit=24, done=25, seq=2)
    plane.passes_on("h3", "e1", "o1", sent=30, commit=31, done=32)
    plane.operation("read", "e1", sent=33, done=34, created="o1", owner=plane.owner_of("e1"))
    return plane


def taken(table: str, name: str) -> Change:
    return Change(table, "D", {"id": name})


def end(plane: Plane, kind: str, subject: str, **about: Any) -> None:
    plane.operation(kind, subject, key=f"{kind} {subject}", owner=plane.owner_of(subject), **about)


ROWS = [
    ("reservations", "b1", "CONFIRMED", 2),
    ("holds", "h2", "ACTIVE", 2),
    ("offers", "o1", "ACTIVE", 2),
    ("waitlist_entries", "e2", "WAITING", 3),
]


@pytest.mark.parametrize(("table", "name", "state", "count"), ROWS)
def test_what_lives_and_is_taken_away_unasked_is_caught(
    house: Plane, table: str, name: str, state: str, count: int
) -> None:
    house.commit(50, taken(table, name), house.counted("r", count))
    (example,) = house.finding(NAME).counter_examples
    assert (example["kind"], example["id"]) == (table, name)
    assert str(example["but"]).startswith(f"it was {state}")


def test_a_sold_seat_that_is_handed_to_the_line_in_the_same_commit_is_caught_by_this_alone(
    house: Plane,
) -> None:
    house.commit(50, taken("reservations", "b1"), *house.promoted("e2", "o2"))
    assert house.violated() == {NAME}


ENDS = [
    ("reservations", "b1", "cancel_reservation", "b1"),
    ("reservations", "b1", "cancel", "h1"),
    ("holds", "h2", "cancel", "h2"),
    ("holds", "h2", "confirm", "h2"),
    ("offers", "o1", "decline_offer", "o1"),
    ("offers", "o1", "accept_offer", "o1"),
    ("offers", "o1", "leave_waitlist", "e1"),
    ("waitlist_entries", "e2", "leave_waitlist", "e2"),
    ("reservations", "b1", "close", "r"),
    ("holds", "h2", "close", "r"),
    ("offers", "o1", "close", "r"),
    ("waitlist_entries", "e2", "close", "r"),
    ("reservations", "b1", "refund", "b1"),
]


@pytest.mark.parametrize(("table", "name", "kind", "subject"), ENDS)
def test_a_row_may_be_taken_away_for_one_who_asked_for_its_end_and_may_never_have_been_answered(
    house: Plane, table: str, name: str, kind: str, subject: str
) -> None:
    end(house, kind, subject, **UNANSWERED)
    house.commit(50, taken(table, name))
    assert house.judged(NAME) is Judgement.VALID


@pytest.mark.parametrize("about", [LATE, REFUSED], ids=["later", "refused"])
@pytest.mark.parametrize("row", ENDS)
def test_who_asks_later_or_is_refused_excuses_nothing(
    house: Plane, row: tuple[str, str, str, str], about: dict[str, Any]
) -> None:
    table, name, kind, subject = row
    house.commit(50, taken(table, name))
    end(house, kind, subject, **about)
    assert house.judged(NAME) is Judgement.INVALID


def test_the_confirm_of_a_seat_does_not_ask_that_it_be_taken_away(house: Plane) -> None:
    end(house, "confirm", "h1", **UNANSWERED)
    house.commit(50, taken("reservations", "b1"))
    assert house.judged(NAME) is Judgement.INVALID


@pytest.mark.parametrize("table", ["holds", "offers"])
@pytest.mark.parametrize("until", [40, None], ids=["over", "unknown"])
def test_what_is_over_may_be_cleaned_away_and_what_may_be(
    house: Plane, table: str, until: float | None
) -> None:
    name = {"holds": "h2", "offers": "o1"}[table]
    house.rows[table, name]["expires_at"] = None if until is None else printed_at(until)
    house.commit(50, taken(table, name))
    assert house.judged(NAME) is Judgement.VALID


def test_a_deadline_that_is_brought_forward_first_excuses_nothing(house: Plane) -> None:
    house.commit(45, house.hold("h2", expires_at=printed_at(46)))
    house.commit(50, taken("holds", "h2"))
    assert house.judged(NAME) is Judgement.INVALID


def test_a_sweep_of_what_has_ended_may_take_it_away(house: Plane) -> None:
    house.passes_on("h2", "e2", "o2", sent=40, commit=41, done=42)
    declined = (house.offer("o1", "e1", state="DECLINED"), house.entry("e1", state="DECLINED"))
    house.ends("decline_offer", "o1", *declined, house.counted("r", 2), sent=43, commit=44, done=45)
    ended = [("holds", "h1"), ("holds", "h2"), ("holds", "h3"), ("offers", "o1"), ("waitlist_entries", "e1")]
    house.commit(50, *(taken(*row) for row in ended))
    assert house.violated() == set()


def test_a_row_may_end_and_be_taken_away_in_one_commit(house: Plane) -> None:
    house.commit(50, house.hold("h2", state="EXPIRED"), taken("holds", "h2"), house.counted("r", 2))
    assert house.judged(NAME) is Judgement.VALID


def test_a_row_that_is_moved_within_one_commit_is_there(house: Plane) -> None:
    """What PostgreSQL tells of an UPDATE that moves a row to another partition."""
    row = dict(house.rows["reservations", "b1"])
    house.commit(50, taken("reservations", "b1"), Change("reservations", "I", row))
    assert house.judged(NAME) is Judgement.VALID


def test_where_there_are_no_reservations_a_confirmed_hold_is_the_seat_that_was_sold(house: Plane) -> None:
    del house.tables["reservations"]
    house.commit(50, taken("holds", "h1"), house.counted("r", 2))
    assert house.judged(NAME) is Judgement.INVALID


@pytest.mark.parametrize("kind", ["cancel", "cancel_reservation"])
def test_where_there_are_no_reservations_a_confirmed_hold_may_be_given_back(house: Plane, kind: str) -> None:
    del house.tables["reservations"]
    end(house, kind, "h1", **UNANSWERED)
    house.commit(50, taken("holds", "h1"), house.counted("r", 2))
    assert house.judged(NAME) is Judgement.VALID


def test_who_is_next_may_leave_the_line_for_the_seat_that_he_is_given(house: Plane) -> None:
    offer = house.offer("o2", "e2")
    house.commit(50, taken("waitlist_entries", "e2"), offer)
    assert house.judged(NAME) is Judgement.VALID


@pytest.mark.parametrize("at", [50, 55], ids=["at once", "soon after"])
def test_who_is_next_may_be_given_a_hold_of_his_own(house: Plane, at: float) -> None:
    hold = house.hold("h4", owner_digest="digest-e2")
    house.commit(50, taken("waitlist_entries", "e2"), *([hold] if at == 50 else []))
    if at > 50:
        house.commit(at, hold)
    assert house.judged(NAME) is Judgement.VALID


@pytest.mark.parametrize(
    ("owner", "judgement"), [("digest", Judgement.VALID), ("another", Judgement.INVALID)]
)
def test_who_takes_another_seat_may_give_up_the_one_she_has(
    house: Plane, owner: str, judgement: Judgement
) -> None:
    house.commit(50, taken("holds", "h2"), house.hold("h4", owner_digest=owner))
    assert house.judged(NAME) is judgement


def test_a_row_of_which_nobody_was_told_may_be_undone(house: Plane) -> None:
    """Whoever never had an answer had not been given anything yet."""
    house.commit(40, *house.recorded("k"), house.hold("h9", idempotency_key="k"), house.counted("r", 3))
    house.operation("hold", "r", sent=39, done=45, key="k", outcome="info")
    house.commit(50, taken("holds", "h9"))
    assert house.judged(NAME) is Judgement.VALID


def test_where_an_answer_names_nothing_its_key_does(house: Plane) -> None:
    house.operations[1]["created"] = None
    house.commit(50, taken("holds", "h2"))
    assert house.judged(NAME) is Judgement.INVALID


def test_whether_somebody_had_asked_before_is_not_known_without_clocks(house: Plane) -> None:
    house.commit(50, taken("holds", "h2"))
    house.clocks.clear()
    finding = house.finding(NAME)
    assert finding.judgement is Judgement.UNKNOWN
    assert "clocks_comparable" in (finding.reason or "")
