"""For every invariant of claims, states, the line and keys one small run that violates it and no other: named after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle.by_hand.instants import printed_at
from tests.oracle.by_hand.target import Change

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane


def never_oversold(plane: Plane) -> None:
    """Two seats at once, which is more than a search by what buyers saw looks at."""
    plane.resource("r", capacity=3)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=2, quantity=2)
    plane.sold("h2", "r", sent=1, commit=3, done=4, count=4, quantity=2)


def occupancy_matches_claims(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.sold("h2", "r", sent=1, commit=3, done=4, count=1)


def acknowledged_is_persisted(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.operation("hold", "r", sent=1, done=2, key="k", created="ghost")


def nothing_is_taken_away(plane: Plane) -> None:
    """A seat that was paid for is deleted, and the count lowered."""
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    confirmed = (plane.hold("h1", state="CONFIRMED"), plane.reservation("b1", hold_id="h1"))
    plane.ends("confirm", "h1", *confirmed, sent=4, commit=5, done=6, created="b1")
    plane.commit(8, Change("reservations", "D", {"id": "b1"}), plane.counted("r", 0))


def nothing_unattempted_exists(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.commit(2, plane.hold("h1", idempotency_key="nobody"), plane.counted("r", 1))
    plane.operation("read", "r", sent=1, done=3)


def one_effect_per_key(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k")
    plane.commit(4, plane.hold("h2", idempotency_key="k"), plane.counted("r", 2))


def sold_out_is_true(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.told_sold_out("r", sent=1, commit=2, done=3, key="k", quantity=2)


def states_move_one_way(plane: Plane) -> None:
    """An offer that was never made is accepted."""
    plane.resource("r", capacity=1)
    plane.joins("e1", sent=1, commit=2, done=3, seq=1)
    plane.commit(5, plane.entry("e1", state="DECLINED"))


def terminal_rows_never_change(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    cancelled = (plane.hold("h1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel", "h1", *cancelled, sent=4, commit=5, done=6)
    plane.commit(8, plane.hold("h1", owner_digest="somebody else"))


def no_gap_in_handover(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    cancelled = (plane.hold("h1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel", "h1", *cancelled, sent=7, commit=8, done=9)
    plane.commit(8.1, *plane.promoted("e1", "o1"), plane.counted("r", 1))


def fifo_handover(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.joins("e2", sent=7, commit=8, done=9, seq=2)
    cancelled = (plane.hold("h1", state="CANCELLED"), *plane.promoted("e2", "o1"))
    plane.ends("cancel", "h1", *cancelled, sent=10, commit=11, done=12)


def newcomers_never_overtake(plane: Plane) -> None:
    """Somebody was let into the line though a seat was free; it is offered to them only later."""
    plane.resource("r", capacity=2)
    plane.joins("e1", sent=1, commit=2, done=3, seq=1)
    plane.sold("h1", "r", sent=4, commit=5, done=6, count=1)
    plane.commit(8, *plane.promoted("e1", "o1"), plane.counted("r", 2))


def offers_only_while_open(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.commit(8, plane.counted("r", 1, state="CLOSED"))
    cancelled = (plane.hold("h1", state="CANCELLED"), *plane.promoted("e1", "o1"))
    plane.ends("cancel", "h1", *cancelled, sent=10, commit=11, done=12)


def nothing_happens_after_expiry(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.rows["holds", "h1"]["expires_at"] = printed_at(10)
    confirmed = (plane.hold("h1", state="CONFIRMED"), plane.reservation("b1", hold_id="h1"))
    plane.ends("confirm", "h1", *confirmed, sent=11, commit=12, done=13, created="b1")


def nothing_expires_early(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.rows["holds", "h1"]["expires_at"] = printed_at(20)
    plane.commit(4, plane.lease("a", 1, until=100))
    plane.commit(12, plane.hold("h1", state="EXPIRED", term=1), plane.counted("r", 0))


def expired_is_true(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.rows["holds", "h1"]["expires_at"] = printed_at(5_000)
    plane.told_expired("confirm", "h1", sent=4, commit=5, done=6)


def only_the_owner_acts(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    cancelled = (plane.hold("h1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel", "h1", *cancelled, sent=4, commit=5, done=6, owner="a stranger")


def replay_is_identical(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k", body_digest="one")
    about = {"created": "h1", "replayed": True, "body_digest": "two"}
    plane.operation("hold", "r", sent=4, done=5, key="k", **about)


def reused_key_conflicts(plane: Plane) -> None:
    """The key of a cancel is used for another hold, and that is answered as if it were cancelled."""
    plane.resource("r", capacity=2)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1, owner="ann")
    plane.sold("h2", "r", sent=4, commit=5, done=6, count=2, owner="ann")
    first = (plane.hold("h1", state="CANCELLED"), plane.counted("r", 1))
    plane.ends("cancel", "h1", *first, sent=7, commit=8, done=9, key="k")
    second = (plane.hold("h2", state="CANCELLED"), plane.counted("r", 0))
    plane.commit(11, *second)
    plane.operation("cancel", "h2", sent=10, done=12, key="k", owner="ann")


def transient_answers_are_not_pinned(plane: Plane) -> None:
    shed = {"outcome": "fail", "code": "ADMISSION_REFUSED", "status": 503}
    plane.operation("hold", "r", sent=1, done=2, key="k", **shed)
    plane.operation("hold", "r", sent=3, done=4, key="k", replayed=True, **shed)


def refused_left_no_trace(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.commit(2, plane.hold("h1", idempotency_key="k"), plane.counted("r", 1))
    shed = {"outcome": "fail", "code": "ADMISSION_REFUSED", "status": 503}
    plane.operation("hold", "r", sent=1, done=3, key="k", **shed)
