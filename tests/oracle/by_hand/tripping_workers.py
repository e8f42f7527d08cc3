"""For every invariant of workers, faults and rest one small run that violates it and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.trail.record import TrailStatus
from tests.oracle.by_hand.instants import printed_at

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane


def errors_are_earned(plane: Plane) -> None:
    plane.broken(since=10, until=20)
    plane.operation("hold", "r", sent=1, done=5, key="k", outcome="info", status=500)


def answers_without_redis(plane: Plane) -> None:
    plane.broken(since=10, until=20, where="redis-a")
    plane.operation("hold", "r", sent=12, done=14, key="k", outcome="info", status=500)


def nothing_left_behind(plane: Plane) -> None:
    plane.rest_at = 10_000
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.rows["holds", "h1"]["expires_at"] = printed_at(900)


def outbox_matches_events(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    offered = (plane.entry("e1", state="OFFERED"), plane.offer("o1", "e1"))
    plane.ends("cancel", "h1", plane.hold("h1", state="CANCELLED"), *offered, sent=7, commit=8, done=9)


def delivered_once(plane: Plane) -> None:
    """The provider was told under an id that the outbox does not know."""
    plane.effect("made up for this attempt", at=5)


def attempts_are_bounded(plane: Plane) -> None:
    plane.stood(plane.notice("e1", entry_id=None, attempts=5))
    plane.commit(5, plane.notice("e1", state="CLAIMED", attempts=6, claim="x", claimed_until=printed_at(1e6)))


def retries_are_bounded(plane: Plane) -> None:
    plane.stood(plane.notice("e1", entry_id=None, next_at=printed_at(1_000)))
    plane.commit(5, plane.notice("e1", state="CLAIMED", attempts=1, claim="x", claimed_until=printed_at(1e6)))


def one_leader_a_term(plane: Plane) -> None:
    plane.commit(1, plane.lease("a", 1, until=100))
    plane.commit(2, plane.lease("b", 2, until=101))


def stale_leaders_change_nothing(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.commit(4, plane.lease("a", 1, until=10))
    plane.commit(11, plane.lease("b", 2, until=30))
    plane.commit(12, plane.hold("h1", state="EXPIRED", term=1), plane.counted("r", 0))


def sweeps_are_bounded(plane: Plane) -> None:
    """Two resources in one transaction."""
    for number, name in enumerate(("r", "s")):
        plane.resource(name, capacity=1)
        plane.sold(f"h{number}", name, sent=1, commit=2 + number, done=5, count=1)
    plane.commit(6, plane.lease("a", 1, until=100))
    expired = [plane.hold(f"h{number}", state="EXPIRED", term=1) for number in range(2)]
    plane.commit(12, *expired, plane.counted("r", 0), plane.counted("s", 0))


def limits_hold(plane: Plane) -> None:
    plane.resource("r", capacity=5)["per_owner_limit"] = "1"
    for number in range(2):
        plane.sold(f"h{number}", "r", sent=1, commit=2 + number, done=5, count=1 + number)


def permits_return(plane: Plane) -> None:
    plane.operation("read", "r", sent=1, done=2)
    plane.sample("redis", "permit_lease_seconds", 0.01, at=100)
    plane.sample("redis", "permits", 1, at=100)


def no_immortal_keys(plane: Plane) -> None:
    plane.sample("redis", "immortal_keys", 1, at=100)


def redis_never_decides(plane: Plane) -> None:
    """It is true that nothing is free, but PostgreSQL was never asked."""
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.refused("r", sent=4, done=5, key="k")


def recovers_after_heal(plane: Plane) -> None:
    plane.broken(since=10, until=20)
    for number in range(3):
        plane.operation("hold", "r", sent=1_100 + number, done=None, key=f"k{number}", outcome="info")


def no_leaked_transactions(plane: Plane) -> None:
    for at in (1_900, 1_950):
        plane.sample("database", "transaction_seconds", at / 1_000, at=at)


def seats_linearize(plane: Plane) -> None:
    """What was answered first and asked for before the other was sent comes after it in the order of commits."""
    plane.resource("r", capacity=2)
    plane.sold("h1", "r", sent=1, commit=20, done=21, count=1)
    plane.operations[-1] |= {"done_ns": plane.operations[-1]["sent_ns"] + 1_000_000}


def seats_linearize_without_trail(plane: Plane) -> None:
    """The last seat went twice, in a database whose changes nobody could follow."""
    plane.trail = TrailStatus.NONE
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.sold("h2", "r", sent=1, commit=3, done=4, count=2)


def redis_is_asked_again(plane: Plane) -> None:
    """A node goes on without it, long after it was there again."""
    plane.operation("read", "r", sent=1, done=2)
    plane.broken(since=10, until=20, where="redis-a")
    for number in range(4):
        plane.sample("admission/a", "local-fallback", 1, at=2_100 + 300 * number)
