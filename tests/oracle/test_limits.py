"""How much of a resource one owner may have, however it was come by and whatever they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

LIMITS = "limits_hold"


def limited(plane: Plane, limit: int) -> None:
    plane.resource("r", capacity=5)["per_owner_limit"] = str(limit)


def owned(
    plane: Plane,
    name: str,
    owner: str,
    *,
    at: float,
    count: int,
    quantity: int = 1,
    buyer: str | None = None,
) -> None:
    key = f"key-{name}"
    hold = plane.hold(name, owner_digest=owner, quantity=quantity, idempotency_key=key)
    plane.commit(at, *plane.recorded(key), hold, plane.counted("r", count))
    plane.operation(
        "hold",
        "r",
        sent=at - 1,
        done=at + 1,
        key=key,
        created=name,
        quantity=quantity,
        owner=buyer or owner,
    )


def test_two_owners_may_each_have_what_one_may(plane: Plane) -> None:
    limited(plane, 1)
    owned(plane, "h1", "ann", at=2, count=1)
    owned(plane, "h2", "bob", at=4, count=2)
    assert plane.violated() == set()


def test_one_who_is_kept_under_two_owners_may_have_no_more_than_one(plane: Plane) -> None:
    limited(plane, 1)
    owned(plane, "h1", "ann", at=2, count=1)
    owned(plane, "h2", "ann-too", at=4, count=2, buyer="ann")
    assert plane.violated() == {LIMITS}


def test_an_owner_under_whom_two_are_kept_is_judged_as_one(plane: Plane) -> None:
    limited(plane, 2)
    owned(plane, "h1", "family", at=2, count=1, buyer="ann")
    owned(plane, "h2", "family", at=4, count=2, buyer="bob")
    owned(plane, "h3", "bob", at=6, count=3)
    owned(plane, "h4", "bob", at=8, count=4)
    assert plane.judged(LIMITS) is Judgement.VALID


def test_seats_count_and_not_holds(plane: Plane) -> None:
    limited(plane, 2)
    owned(plane, "h1", "ann", at=2, count=3, quantity=3)
    assert plane.violated() == {LIMITS}


def test_a_place_in_the_line_counts_too_and_an_offer_in_its_stead_does_not_count_twice(plane: Plane) -> None:
    limited(plane, 1)
    plane.rows["resources", "r"]["capacity"] = "1"
    owned(plane, "h1", "ann", at=2, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.passes_on("h1", "e1", "o1", sent=7, commit=8, done=9)
    assert plane.violated() == set()
    plane.commit(12, plane.entry("e2", owner_digest="digest-e1"))
    assert plane.judged(LIMITS) is Judgement.INVALID


def test_a_limit_that_is_lowered_takes_nothing_away(plane: Plane) -> None:
    limited(plane, 2)
    owned(plane, "h1", "ann", at=2, count=2, quantity=2)
    plane.commit(5, plane.counted("r", 2, per_owner_limit="1"))
    plane.ends("confirm", "h1", plane.hold("h1", state="CONFIRMED"),
        plane.reservation("b1", hold_id="h1", owner_digest="ann", quantity=2), sent=6, commit=7, done=8, created="b1")  # fmt: skip
    assert plane.violated() == set()


def test_who_was_told_of_what_is_not_known_where_a_part_of_the_history_is_lost(plane: Plane) -> None:
    """Two owners may be one person, of which the lost part would tell."""
    limited(plane, 1)
    owned(plane, "h1", "ann", at=2, count=1)
    owned(plane, "h2", "bob", at=4, count=2)
    plane.given(shards=2)
    finding = plane.finding(LIMITS)
    assert finding.judgement is Judgement.UNKNOWN
    assert "history_complete" in (finding.reason or "")


def test_what_one_owner_has_too_much_of_is_caught_though_a_part_of_the_history_is_lost(plane: Plane) -> None:
    limited(plane, 1)
    owned(plane, "h1", "ann", at=2, count=2, quantity=2)
    plane.given(shards=2)
    assert plane.judged(LIMITS) is Judgement.INVALID
