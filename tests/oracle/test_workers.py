"""The outbox, its deliveries, the leader's lease and what is swept under it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.verdict import Judgement
from tests.oracle.by_hand.instants import printed_at

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

EVENTS, DELIVERED, ATTEMPTS, RETRIES, LEADER, STALE, SWEEPS = (
    "outbox_matches_events",
    "delivered_once",
    "attempts_are_bounded",
    "retries_are_bounded",
    "one_leader_a_term",
    "stale_leaders_change_nothing",
    "sweeps_are_bounded",
)
NOTICE = "waitlist-e1-offered"


def handed(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    offered = (plane.hold("h1", state="CANCELLED"), *plane.promoted("e1", "o1"))
    plane.ends("cancel", "h1", *offered, sent=7, commit=8, done=9)


def claimed(plane: Plane, *, at: float, attempts: int, token: str = "x", until: float = 60) -> None:
    claim = {
        "state": "CLAIMED",
        "attempts": attempts,
        "claim": token,
        "claimed_until": printed_at(until),
        "next_at": None,
    }
    plane.commit(at, plane.notice("e1", **claim))


def put_back(plane: Plane, *, at: float, until: float) -> None:
    plane.commit(
        at, plane.notice("e1", state="PENDING", claim=None, claimed_until=None, next_at=printed_at(until))
    )


def delivered(plane: Plane, *, at: float) -> None:
    plane.commit(at, plane.notice("e1", state="DELIVERED", claim=None, claimed_until=None))


def test_an_announcement_of_an_offer_that_was_never_made_is_caught(plane: Plane) -> None:
    handed(plane)
    plane.commit(12, plane.notice("e9"))
    assert plane.violated() == {EVENTS}


def test_an_announcement_in_a_commit_of_its_own_is_caught(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    offered = (
        plane.hold("h1", state="CANCELLED"),
        plane.entry("e1", state="OFFERED"),
        plane.offer("o1", "e1"),
    )
    plane.ends("cancel", "h1", *offered, sent=7, commit=8, done=9)
    plane.commit(9, plane.notice("e1"))
    (example,) = plane.finding(EVENTS).counter_examples
    assert example["but"] == "offer and announcement were committed apart"


def test_a_second_announcement_is_caught(plane: Plane) -> None:
    handed(plane)
    plane.commit(12, plane.notice("e1", delivery="again"))
    assert EVENTS in plane.violated()


def test_a_message_about_something_else_is_no_announcement_of_an_offer(plane: Plane) -> None:
    handed(plane)
    plane.commit(12, plane.notice("e1", delivery="hold-expires-soon", entry_id=None))
    assert plane.judged(EVENTS) is Judgement.VALID


def test_a_crash_after_sending_makes_a_duplicate_and_that_is_legal(plane: Plane) -> None:
    handed(plane)
    claimed(plane, at=10, attempts=1, until=20)
    plane.effect(NOTICE, at=11)
    claimed(plane, at=21, attempts=2, token="y", until=40)
    plane.effect(NOTICE, at=22, answer="duplicate")
    delivered(plane, at=23)
    assert plane.violated() == set()


def test_what_the_provider_never_took_does_not_count_as_delivered(plane: Plane) -> None:
    handed(plane)
    claimed(plane, at=10, attempts=1)
    plane.effect(NOTICE, at=11, answer="failed")
    delivered(plane, at=12)
    assert plane.violated() == {DELIVERED}


def test_what_was_taken_and_given_up_is_legal(plane: Plane) -> None:
    handed(plane)
    claimed(plane, at=10, attempts=1)
    plane.effect(NOTICE, at=11)
    plane.commit(70, plane.notice("e1", state="EXHAUSTED", claim=None, claimed_until=None))
    assert plane.judged(DELIVERED) is Judgement.VALID


def test_a_claim_that_is_not_counted_is_caught(plane: Plane) -> None:
    handed(plane)
    claimed(plane, at=10, attempts=0)
    assert plane.violated() == {ATTEMPTS}


def test_a_message_that_was_sent_without_a_claim_is_caught(plane: Plane) -> None:
    handed(plane)
    claimed(plane, at=10, attempts=1)
    plane.effect(NOTICE, at=11)
    plane.effect(NOTICE, at=11.1, answer="duplicate")
    delivered(plane, at=12)
    assert plane.violated() == {ATTEMPTS}


def test_a_claim_that_is_taken_over_before_it_lapsed_is_caught(plane: Plane) -> None:
    handed(plane)
    claimed(plane, at=10, attempts=1, until=20)
    claimed(plane, at=15, attempts=2, token="y")
    assert plane.violated() == {RETRIES}


def test_one_that_is_put_back_again_and_again_without_a_rest_is_caught(plane: Plane) -> None:
    handed(plane)
    for turn in range(2):
        claimed(plane, at=10 + 10 * turn, attempts=1 + turn)
        put_back(plane, at=15 + 10 * turn, until=15 + 10 * turn)
    assert plane.violated() == {RETRIES}


def test_one_rest_may_be_over_by_the_time_it_is_committed(plane: Plane) -> None:
    handed(plane)
    claimed(plane, at=10, attempts=1)
    put_back(plane, at=15, until=14)
    claimed(plane, at=16, attempts=2)
    assert plane.violated() == set()


def test_a_leader_renews_and_is_followed_when_its_lease_is_over(plane: Plane) -> None:
    for at, holder, term, until in ((1, "a", 1, 10), (5, "a", 1, 15), (15.1, "b", 2, 25), (30, "b", 3, 40)):
        plane.commit(at, plane.lease(holder, term, until=until))
    finding = plane.finding(LEADER)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 3)


def test_a_leader_that_resigned_may_be_followed_at_once(plane: Plane) -> None:
    for at, holder, term, until in ((1, "a", 1, 100), (5, "a", 1, 4.9), (5.1, "b", 2, 25)):
        plane.commit(at, plane.lease(holder, term, until=until))
    assert plane.judged(LEADER) is Judgement.VALID


def test_two_leaders_of_one_term_are_caught(plane: Plane) -> None:
    plane.commit(1, plane.lease("a", 1, until=10))
    plane.commit(11, plane.lease("b", 1, until=30))
    assert plane.violated() == {LEADER}


def test_a_term_that_falls_is_caught(plane: Plane) -> None:
    plane.commit(1, plane.lease("a", 2, until=10))
    plane.commit(11, plane.lease("b", 1, until=30))
    assert plane.violated() == {LEADER}


def swept(plane: Plane, *resources: str, at: float, term: int | None) -> None:
    for resource in resources:
        plane.commit(at, plane.hold(f"h-{resource}", state="EXPIRED", term=term), plane.counted(resource, 0))
        at += 1


def sold(plane: Plane, *resources: str) -> None:
    for number, resource in enumerate(resources):
        plane.resource(resource, capacity=1)
        plane.sold(f"h-{resource}", resource, sent=1, commit=2 + number / 10, done=3, count=1)


def test_a_leader_whose_lease_is_over_may_go_on_while_nobody_follows(plane: Plane) -> None:
    sold(plane, "r")
    plane.commit(4, plane.lease("a", 1, until=6))
    swept(plane, "r", at=9, term=1)
    plane.commit(20, plane.lease("b", 2, until=30))
    finding = plane.finding(STALE)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 1)


def test_what_was_swept_under_no_term_is_caught(plane: Plane) -> None:
    sold(plane, "r")
    plane.commit(4, plane.lease("a", 1, until=20))
    swept(plane, "r", at=9, term=None)
    assert plane.violated() == {STALE}


def test_the_leader_of_something_else_is_not_asked(plane: Plane) -> None:
    sold(plane, "r")
    plane.commit(4, plane.lease("a", 1, until=20, slot="a sweeper"))
    plane.commit(5, plane.lease("z", 7, until=20, slot="zookeeper"))
    swept(plane, "r", at=9, term=1)
    assert plane.judged(STALE) is Judgement.VALID


def test_a_tick_may_take_three_resources_and_the_next_tick_more(plane: Plane) -> None:
    sold(plane, "r", "s", "t", "u")
    plane.commit(4, plane.lease("a", 1, until=100))
    swept(plane, "r", "s", "t", at=5, term=1)
    plane.commit(9, plane.lease("a", 1, until=101))
    swept(plane, "u", at=10, term=1)
    finding = plane.finding(SWEEPS)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 4)


def test_a_tick_that_takes_a_fourth_is_caught(plane: Plane) -> None:
    sold(plane, "r", "s", "t", "u")
    plane.commit(4, plane.lease("a", 1, until=100))
    swept(plane, "r", "s", "t", "u", at=5, term=1)
    assert plane.violated() == {SWEEPS}


def test_a_transaction_that_ends_too_many_holds_is_caught(plane: Plane) -> None:
    plane.resource("r", capacity=3)
    for number in range(3):
        plane.sold(f"h{number}", "r", sent=1, commit=2 + number / 10, done=3, count=1 + number)
    plane.commit(4, plane.lease("a", 1, until=100))
    plane.commit(
        9, *(plane.hold(f"h{number}", state="EXPIRED", term=1) for number in range(3)), plane.counted("r", 0)
    )
    assert plane.violated() == {SWEEPS}
