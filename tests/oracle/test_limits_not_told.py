"""A limit that a target does not tell is not kept by that: what rests on it is unknown, and convicts nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.verdict import Judgement
from tests.oracle.by_hand.instants import printed_at

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

ATTEMPTS, STALE = "attempts_are_bounded", "stale_leaders_change_nothing"


def handed(plane: Plane) -> None:
    """A seat that was given back is offered to the first in the line."""
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.passes_on("h1", "e1", "o1", sent=7, commit=8, done=9)


def test_how_many_attempts_are_too_many_is_not_known_where_the_target_does_not_say(plane: Plane) -> None:
    handed(plane)
    claim: dict[str, Any] = {"attempts": 1, "claim": "x", "claimed_until": printed_at(60), "next_at": None}
    plane.commit(10, plane.notice("e1", state="CLAIMED", **claim))
    assert plane.judged(ATTEMPTS) is Judgement.VALID
    plane.unmap("outbox", "attempts_max")
    finding = plane.finding(ATTEMPTS)
    assert (finding.judgement, finding.reason) == (
        Judgement.UNKNOWN,
        "not offered: the target's outbox have no attempts_max",
    )


def test_where_offers_keep_no_term_nobody_knows_who_swept_them(plane: Plane) -> None:
    handed(plane)
    plane.commit(20, plane.lease("a", 1, until=950))
    over = (plane.offer("o1", "e1", state="EXPIRED"), plane.entry("e1", state="EXPIRED"))
    plane.commit(930, *over, plane.counted("r", 0))
    assert plane.judged(STALE) is Judgement.INVALID
    plane.unmap("offers", "term")
    finding = plane.finding(STALE)
    assert (finding.judgement, finding.looked_at) == (Judgement.UNKNOWN, 0)


def test_where_offers_keep_no_term_holds_are_judged_all_the_same(plane: Plane) -> None:
    handed(plane)
    plane.unmap("offers", "term")
    plane.resource("s", capacity=1)
    plane.sold("h2", "s", sent=10, commit=11, done=12, count=1)
    plane.commit(20, plane.lease("a", 1, until=950))
    plane.commit(30, plane.hold("h2", state="EXPIRED", term=None), plane.counted("s", 0))
    assert plane.judged(STALE) is Judgement.INVALID
