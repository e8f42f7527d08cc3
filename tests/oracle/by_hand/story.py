"""A long and healthy run by hand, in which everything happens that an invariant looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.oracle.by_hand.instants import printed_at

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane


def tell(plane: Plane) -> Plane:
    """Sell, hand over, expire, close, repeat, refuse and break, all as it should be."""
    _sale(plane)
    _line(plane)
    _sweep(plane)
    _keys(plane)
    _outage(plane)
    _adviser_away(plane)
    for process in ("postgres", "load-0"):
        plane.clock(process, 2_000)
    for metric, value in (
        ("permits", 0),
        ("permits_max", 8),
        ("permit_lease_seconds", 0.1),
        ("immortal_keys", 0),
    ):
        plane.sample("redis", metric, value, at=1_900)
    plane.sample("database", "idle_in_transaction_seconds", 0.01, at=100)
    plane.sample("unsettled", "open transactions", 0, at=1_900)
    plane.sample("database", "transaction_seconds", 0, at=1_900)
    plane.sample("database", "advisory_locks", 0, at=1_900)
    return plane


def _sale(plane: Plane) -> None:
    """Two seats, sold to one who confirms and one who waits; nobody else gets in."""
    plane.resource("r", capacity=2)["per_owner_limit"] = "2"
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.sold("h2", "r", sent=4, commit=5, done=6, count=2)
    plane.told_sold_out("r", sent=7, commit=8, done=9, key="late")
    confirmed = (plane.hold("h1", state="CONFIRMED"), plane.reservation("b1", hold_id="h1"))
    plane.ends("confirm", "h1", *confirmed, sent=10, commit=11, done=12, created="b1")


def _line(plane: Plane) -> None:
    """Two join; the first gets the seat of a cancelled hold and accepts, its notice is sent at the second attempt."""
    plane.joins("e1", sent=20, commit=21, done=22, seq=1)
    plane.joins("e2", sent=23, commit=24, done=25, seq=2)
    plane.commit(26, plane.lease("a", 1, until=40))
    cancelled = (plane.hold("h2", state="CANCELLED"), *plane.promoted("e1", "o1"))
    plane.ends("cancel", "h2", *cancelled, sent=27, commit=28, done=29)
    notice = "waitlist-e1-offered"
    plane.commit(
        30,
        plane.notice(
            "e1", state="CLAIMED", attempts=1, claim="x", claimed_until=printed_at(60), next_at=None
        ),
    )
    plane.commit(
        32, plane.notice("e1", state="PENDING", claim=None, claimed_until=None, next_at=printed_at(35))
    )
    plane.commit(
        36,
        plane.notice(
            "e1", state="CLAIMED", attempts=2, claim="y", claimed_until=printed_at(66), next_at=None
        ),
    )
    plane.effect(notice, at=31)
    plane.effect(notice, at=37, answer="duplicate")
    plane.commit(38, plane.notice("e1", state="DELIVERED", claim=None, claimed_until=None))
    accepted = (
        plane.offer("o1", "e1", state="ACCEPTED"),
        plane.entry("e1", state="ACCEPTED"),
        plane.reservation("b2", offer_id="o1"),
    )
    plane.ends("accept_offer", "o1", *accepted, sent=39, commit=40, done=41, created="b2")


def _sweep(plane: Plane) -> None:
    """Another resource: its hold expires, is swept by the second leader, and the resource closes."""
    plane.resource("s", capacity=1)
    plane.sold("h3", "s", sent=50, commit=51, done=52, count=1)
    plane.rows["holds", "h3"]["expires_at"] = printed_at(60)
    plane.told_expired("confirm", "h3", sent=60.1, commit=60.4, done=60.7)
    plane.commit(61, plane.lease("b", 2, until=90))
    plane.commit(62, plane.hold("h3", state="EXPIRED", term=2), plane.counted("s", 0))
    plane.commit(64, plane.counted("s", 0, state="CLOSED"))
    plane.resource("u", capacity=1)
    plane.sold("h4", "u", sent=65, commit=66, done=67, count=1)


def _keys(plane: Plane) -> None:
    """A key is repeated, and reused for another command; a command is turned away for a while."""
    owner = plane.operations[0]["owner"]
    again = {"key": "key-h1", "owner": owner, "created": "h1", "replayed": True}
    plane.operation("hold", "r", sent=70, done=71, **again)
    conflict = {"outcome": "fail", "code": "KEY_CONFLICT", "key": "key-h1", "quantity": 2}
    plane.operation("hold", "r", sent=72, done=73, **conflict)
    shed = {"outcome": "fail", "code": "ADMISSION_REFUSED", "status": 503}
    plane.operation("hold", "r", sent=74, done=75, key="shed", **shed)


def _outage(plane: Plane) -> None:
    """Something breaks for a while: who asks then never learns, who asks two seconds later is told as ever."""
    plane.broken(since=100, until=200)
    plane.operation("hold", "r", sent=150, done=160, key="lost", outcome="info", status=500)
    plane.told_sold_out("r", sent=1_300, commit=1_301, done=1_302, key="later")


def _adviser_away(plane: Plane) -> None:
    """Redis breaks, too, long after: who asks then is told as ever."""
    plane.broken(since=1_400, until=1_450, where="redis")
    plane.told_sold_out("r", sent=1_410, commit=1_411, done=1_412, key="without an adviser")
    plane.sample("admission/a", "local-fallback", 1, at=1_410)
    plane.sample("admission/a", "redis", 1, at=1_460)
