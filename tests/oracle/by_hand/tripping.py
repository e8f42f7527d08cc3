"""For every invariant one small run that violates it and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.trail.record import TrailStatus
from tests.oracle.by_hand.instants import printed_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.oracle.by_hand.plane import Plane

    Case = Callable[[Plane], object]

CASES: Final[dict[str, Case]] = {}


def trips(case: Case) -> Case:
    """Register a case under the invariant that it is named after."""
    CASES[case.__name__] = case
    return case


@trips
def never_oversold(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.sold("h2", "r", sent=1, commit=3, done=4, count=2)


@trips
def occupancy_matches_claims(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.sold("h2", "r", sent=1, commit=3, done=4, count=1)


@trips
def acknowledged_is_persisted(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.operation("hold", "r", sent=1, done=2, key="k", created="ghost")


@trips
def nothing_unattempted_exists(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.commit(2, plane.hold("h1", idempotency_key="nobody"), plane.counted("r", 1))
    plane.operation("read", "r", sent=1, done=3)


@trips
def one_effect_per_key(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k")
    plane.commit(4, plane.hold("h2", idempotency_key="k"), plane.counted("r", 2))


@trips
def sold_out_is_true(plane: Plane) -> None:
    plane.resource("r", capacity=5)
    plane.told_sold_out("r", sent=1, commit=2, done=3, key="k")


@trips
def states_move_one_way(plane: Plane) -> None:
    """An offer that was never made is accepted."""
    plane.resource("r", capacity=1)
    plane.joins("e1", sent=1, commit=2, done=3, seq=1)
    plane.commit(5, plane.entry("e1", state="DECLINED"))


@trips
def terminal_rows_never_change(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    cancelled = (plane.hold("h1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel", "h1", *cancelled, sent=4, commit=5, done=6)
    plane.commit(8, plane.hold("h1", owner_digest="somebody else"))


@trips
def no_gap_in_handover(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    cancelled = (plane.hold("h1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel", "h1", *cancelled, sent=7, commit=8, done=9)
    plane.commit(8.1, *plane.promoted("e1", "o1"), plane.counted("r", 1))


@trips
def fifo_handover(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.joins("e2", sent=7, commit=8, done=9, seq=2)
    cancelled = (plane.hold("h1", state="CANCELLED"), *plane.promoted("e2", "o1"))
    plane.ends("cancel", "h1", *cancelled, sent=10, commit=11, done=12)


@trips
def newcomers_never_overtake(plane: Plane) -> None:
    """Somebody was let into the line though a seat was free; it is offered to them only later."""
    plane.resource("r", capacity=2)
    plane.joins("e1", sent=1, commit=2, done=3, seq=1)
    plane.sold("h1", "r", sent=4, commit=5, done=6, count=1)
    plane.commit(8, *plane.promoted("e1", "o1"), plane.counted("r", 2))


@trips
def offers_only_while_open(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.commit(8, plane.counted("r", 1, state="CLOSED"))
    cancelled = (plane.hold("h1", state="CANCELLED"), *plane.promoted("e1", "o1"))
    plane.ends("cancel", "h1", *cancelled, sent=10, commit=11, done=12)


@trips
def nothing_happens_after_expiry(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.rows["holds", "h1"]["expires_at"] = printed_at(10)
    confirmed = (plane.hold("h1", state="CONFIRMED"), plane.reservation("b1", hold_id="h1"))
    plane.ends("confirm", "h1", *confirmed, sent=11, commit=12, done=13, created="b1")


@trips
def only_the_owner_acts(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    cancelled = (plane.hold("h1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel", "h1", *cancelled, sent=4, commit=5, done=6, owner="a stranger")


@trips
def replay_is_identical(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k", body_digest="one")
    about = {"created": "h1", "replayed": True, "body_digest": "two"}
    plane.operation("hold", "r", sent=4, done=5, key="k", **about)


@trips
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


@trips
def transient_answers_are_not_pinned(plane: Plane) -> None:
    shed = {"outcome": "fail", "code": "ADMISSION_REFUSED", "status": 503}
    plane.operation("hold", "r", sent=1, done=2, key="k", **shed)
    plane.operation("hold", "r", sent=3, done=4, key="k", replayed=True, **shed)


@trips
def refused_left_no_trace(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.commit(2, plane.hold("h1", idempotency_key="k"), plane.counted("r", 1))
    shed = {"outcome": "fail", "code": "ADMISSION_REFUSED", "status": 503}
    plane.operation("hold", "r", sent=1, done=3, key="k", **shed)


@trips
def errors_are_earned(plane: Plane) -> None:
    plane.broken(since=10, until=20)
    plane.operation("hold", "r", sent=1, done=5, key="k", outcome="info", status=500)


@trips
def nothing_left_behind(plane: Plane) -> None:
    plane.rest_at = 10_000
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.rows["holds", "h1"]["expires_at"] = printed_at(900)


@trips
def outbox_matches_events(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    offered = (plane.entry("e1", state="OFFERED"), plane.offer("o1", "e1"))
    plane.ends("cancel", "h1", plane.hold("h1", state="CANCELLED"), *offered, sent=7, commit=8, done=9)


@trips
def delivered_once(plane: Plane) -> None:
    """The provider was told under an id that the outbox does not know."""
    plane.effect("made up for this attempt", at=5)


@trips
def attempts_are_bounded(plane: Plane) -> None:
    plane.stood(plane.notice("e1", entry_id=None, attempts=5))
    plane.commit(5, plane.notice("e1", state="CLAIMED", attempts=6, claim="x", claimed_until=printed_at(1e6)))


@trips
def retries_are_bounded(plane: Plane) -> None:
    plane.stood(plane.notice("e1", entry_id=None, next_at=printed_at(1_000)))
    plane.commit(5, plane.notice("e1", state="CLAIMED", attempts=1, claim="x", claimed_until=printed_at(1e6)))


@trips
def one_leader_a_term(plane: Plane) -> None:
    plane.commit(1, plane.lease("a", 1, until=100))
    plane.commit(2, plane.lease("b", 2, until=101))


@trips
def stale_leaders_change_nothing(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.commit(4, plane.lease("a", 1, until=10))
    plane.commit(11, plane.lease("b", 2, until=30))
    plane.commit(12, plane.hold("h1", state="EXPIRED", term=1), plane.counted("r", 0))


@trips
def sweeps_are_bounded(plane: Plane) -> None:
    """Two resources in one transaction."""
    for number, name in enumerate(("r", "s")):
        plane.resource(name, capacity=1)
        plane.sold(f"h{number}", name, sent=1, commit=2 + number, done=5, count=1)
    plane.commit(6, plane.lease("a", 1, until=100))
    expired = [plane.hold(f"h{number}", state="EXPIRED", term=1) for number in range(2)]
    plane.commit(12, *expired, plane.counted("r", 0), plane.counted("s", 0))


@trips
def limits_hold(plane: Plane) -> None:
    plane.resource("r", capacity=5)["per_owner_limit"] = "1"
    for number in range(2):
        plane.sold(f"h{number}", "r", sent=1, commit=2 + number, done=5, count=1 + number)


@trips
def permits_return(plane: Plane) -> None:
    plane.operation("read", "r", sent=1, done=2)
    plane.sample("redis", "permit_lease_seconds", 0.01, at=100)
    plane.sample("redis", "permits", 1, at=100)


@trips
def no_immortal_keys(plane: Plane) -> None:
    plane.sample("redis", "immortal_keys", 1, at=100)


@trips
def redis_never_decides(plane: Plane) -> None:
    """It is true that nothing is free, but PostgreSQL was never asked."""
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.refused("r", sent=4, done=5, key="k")


@trips
def recovers_after_heal(plane: Plane) -> None:
    plane.broken(since=10, until=20)
    for number in range(3):
        plane.operation("hold", "r", sent=1_100 + number, done=None, key=f"k{number}", outcome="info")


@trips
def no_leaked_transactions(plane: Plane) -> None:
    plane.sample("unsettled", "open transactions", 1, at=100)


@trips
def seats_linearize(plane: Plane) -> None:
    """What was answered first and asked for before the other was sent comes after it in the order of commits."""
    plane.resource("r", capacity=2)
    plane.sold("h1", "r", sent=1, commit=20, done=21, count=1)
    plane.operations[-1] |= {"done_ns": plane.operations[-1]["sent_ns"] + 1_000_000}


@trips
def seats_linearize_without_trail(plane: Plane) -> None:
    """The last seat went twice, in a database whose changes nobody could follow."""
    plane.trail = TrailStatus.NONE
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.sold("h2", "r", sent=1, commit=3, done=4, count=2)
