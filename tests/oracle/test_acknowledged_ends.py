"""Whatever end a buyer was told of has come, and what it led to is of the same resource, and one buyer's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from checker.verdict import Judgement
from tests.oracle.by_hand.instants import printed_at
from tests.oracle.by_hand.target import Change

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

NAME = "acknowledged_is_persisted"


@pytest.fixture
def house(plane: Plane) -> Plane:
    """Two seats: one confirmed, one offered to the first of two in the line."""
    plane.resource("r", capacity=2)
    plane.resource("s", capacity=2)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.sold("h2", "r", sent=4, commit=5, done=6, count=2)
    confirmed = (plane.hold("h1", state="CONFIRMED"), plane.reservation("b1", hold_id="h1"))
    plane.ends("confirm", "h1", *confirmed, sent=10, commit=11, done=12, created="b1")
    plane.joins("e1", sent=20, commit=21, done=22, seq=1)
    plane.joins("e2", sent=23, commit=24, done=25, seq=2)
    plane.passes_on("h2", "e1", "o1", sent=30, commit=31, done=32)
    return plane


def is_told(plane: Plane, kind: str, subject: str, **about: Any) -> None:
    """The answer `ok` to a command; what became of it is another matter."""
    about.setdefault("owner", plane.owner_of(subject))
    plane.operation(kind, subject, sent=50, done=52, key=f"{kind} {subject}", **about)


ENDS = [
    ("decline_offer", "offers", "o1", "DECLINED"),
    ("accept_offer", "offers", "o1", "ACCEPTED"),
    ("leave_waitlist", "waitlist_entries", "e2", "LEFT"),
    ("cancel_reservation", "reservations", "b1", "CANCELLED"),
    ("close", "resources", "s", "CLOSED"),
]


@pytest.mark.parametrize(("kind", "table", "name", "state"), ENDS)
def test_an_end_that_was_told_and_never_came_is_caught(
    house: Plane, kind: str, table: str, name: str, state: str
) -> None:
    assert house.judged(NAME) is Judgement.VALID
    is_told(house, kind, name)
    (example,) = house.finding(NAME).counter_examples
    end = f"was never {state}" if kind == "accept_offer" else "never ended"
    assert example["but"] == f"{name} of the {table} {end}"


@pytest.mark.parametrize(("kind", "table", "name", "state"), ENDS)
def test_an_end_that_was_told_and_came_is_valid(
    house: Plane, kind: str, table: str, name: str, state: str
) -> None:
    house.commit(51, house.put(table, name, state=state))
    is_told(house, kind, name)
    assert house.judged(NAME) is Judgement.VALID


@pytest.mark.parametrize(("kind", "table", "name", "state"), ENDS)
def test_an_end_may_take_the_row_away(house: Plane, kind: str, table: str, name: str, state: str) -> None:
    house.commit(51, Change(table, "D", {"id": name}))
    is_told(house, kind, name)
    assert house.judged(NAME) is Judgement.VALID, state


@pytest.mark.parametrize("kind", ["cancel", "confirm"])
def test_the_end_of_a_hold_may_take_it_away(house: Plane, kind: str) -> None:
    house.sold("h4", "s", sent=40, commit=41, done=42, count=1)
    house.commit(51, house.removed("h4"))
    is_told(house, kind, "h4")
    assert house.judged(NAME) is Judgement.VALID


@pytest.mark.parametrize(
    ("kind", "table", "name"),
    [
        ("cancel", "holds", "h4"),
        ("decline_offer", "offers", "o1"),
        ("leave_waitlist", "waitlist_entries", "e1"),
    ],
)
def test_who_gives_back_what_was_over_by_then_may_be_told_so(
    house: Plane, kind: str, table: str, name: str
) -> None:
    house.sold("h4", "s", sent=40, commit=41, done=42, count=1)
    house.commit(49, house.put(table, name, state="EXPIRED"))
    is_told(house, kind, name)
    assert house.judged(NAME) is Judgement.VALID


def test_who_takes_what_was_over_by_then_may_not(house: Plane) -> None:
    house.commit(49, house.put("offers", "o1", state="EXPIRED"))
    is_told(house, "accept_offer", "o1")
    assert house.judged(NAME) is Judgement.INVALID


@pytest.mark.parametrize(("kind", "table", "name", "state"), ENDS)
def test_where_a_target_tells_no_states_or_no_names_nobody_knows_of_an_end(
    house: Plane, kind: str, table: str, name: str, state: str
) -> None:
    is_told(house, kind, name)
    house.unmap(table, "state")
    assert house.judged(NAME) is Judgement.VALID, state
    house.unmap(table, "id")
    assert all(name not in str(row["but"]) for row in house.finding(NAME).counter_examples)


@pytest.mark.parametrize(("kind", "table", "name", "state"), ENDS[:4])
def test_the_end_of_what_never_was_is_caught(
    house: Plane, kind: str, table: str, name: str, state: str
) -> None:
    is_told(house, kind, "ghost", owner="ann")
    (example,) = house.finding(NAME).counter_examples
    assert example["but"] == f"there is no ghost among the {table}", (name, state)


def test_an_operation_that_was_never_answered_was_told_nothing(house: Plane) -> None:
    for kind, _, name, _ in ENDS:
        is_told(house, kind, name, outcome="info")
    assert house.judged(NAME) is Judgement.VALID


def test_one_place_in_the_line_told_to_two_is_caught(house: Plane) -> None:
    is_told(house, "join_waitlist", "r", owner="ann", created="e2")
    assert {str(row["but"]) for row in house.finding(NAME).counter_examples} == {
        "2 buyers were told that e2 of the waitlist_entries is theirs"
    }


def test_one_place_in_the_line_told_twice_to_one_is_legal(house: Plane) -> None:
    is_told(house, "join_waitlist", "r", owner=house.owner_of("e2"), created="e2")
    assert house.judged(NAME) is Judgement.VALID


def second(house: Plane, resource: str = "s", **about: Any) -> None:
    """Somebody else's hold is confirmed, and she is told of a reservation."""
    house.sold("h4", "s", sent=40, commit=41, done=42, count=1, quantity=about.pop("quantity", 1))
    made = about.pop("made", [house.reservation("b4", resource, hold_id="h4")])
    house.commit(51, house.hold("h4", state="CONFIRMED"), *made)
    is_told(house, "confirm", "h4", **({"created": "b4"} | about))


def test_one_reservation_for_two_holds_of_two_buyers_is_caught(house: Plane) -> None:
    second(house, made=[], created="b1")
    assert any("2 buyers" in str(row["but"]) for row in house.finding(NAME).counter_examples)


def test_one_reservation_may_be_told_to_all_who_confirmed_one_hold(house: Plane) -> None:
    is_told(house, "confirm", "h1", owner="her friend", created="b1")
    assert house.judged(NAME) is Judgement.VALID


@pytest.mark.parametrize(("resource", "judgement"), [("s", Judgement.VALID), ("r", Judgement.INVALID)])
def test_a_reservation_is_of_the_resource_that_was_held(
    house: Plane, resource: str, judgement: Judgement
) -> None:
    second(house, resource)
    assert house.judged(NAME) is judgement


def test_a_place_in_another_line_is_not_what_was_asked_for(house: Plane) -> None:
    house.commit(40, house.entry("e3", "s"))
    is_told(house, "join_waitlist", "r", owner="ann", created="e3")
    assert house.judged(NAME) is Judgement.INVALID


@pytest.mark.parametrize(
    ("seats", "judgement"),
    [
        ((2,), Judgement.VALID),
        ((1, 1), Judgement.VALID),
        ((1,), Judgement.INVALID),
        ((3,), Judgement.INVALID),
    ],
)
def test_a_hold_comes_to_as_many_reserved_seats_as_were_held(
    house: Plane, seats: tuple[int, ...], judgement: Judgement
) -> None:
    made = [house.reservation(f"b{4 + n}", "s", hold_id="h4", quantity=seat) for n, seat in enumerate(seats)]
    second(house, quantity=2, made=made)
    assert house.judged(NAME) is judgement


def test_who_is_told_of_a_place_that_was_over_as_soon_as_it_was_made_was_given_nothing(house: Plane) -> None:
    house.commit(40, house.entry("e3", "s", state="LEFT"))
    is_told(house, "join_waitlist", "s", owner="ann", created="e3")
    (example,) = house.finding(NAME).counter_examples
    assert example["but"] == "e3 of the waitlist_entries was LEFT as soon as it was made"


@pytest.mark.parametrize("state", ["WAITING", "OFFERED", "ON_HOLD"])
def test_a_row_may_come_to_be_in_a_later_step_or_in_one_that_nobody_knows(house: Plane, state: str) -> None:
    house.commit(40, house.entry("e3", "s", state=state))
    is_told(house, "join_waitlist", "s", owner="ann", created="e3")
    assert house.judged(NAME) is Judgement.VALID


def test_a_hold_that_ends_in_the_commit_in_which_it_was_made_had_been_there(house: Plane) -> None:
    held = house.hold("h5", "s", until=0)
    house.commit(40, held, Change("holds", "U", held.row | {"state": "EXPIRED", "ended_at": printed_at(40)}))
    house.operation("hold", "s", sent=39, done=41, key=None, created="h5")
    assert house.judged(NAME) is Judgement.VALID
