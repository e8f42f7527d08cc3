"""Whether what somebody had in hand passed to another: keys that were taken over, the lead, notices in two hands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.assumptions import claimed_beside, led, taken_over
from tests.oracle.by_hand.instants import printed_at
from tests.oracle.by_hand.target import Change

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane


def claimed(plane: Plane, key: str, *, at: float, until: float) -> None:
    """The claim of a key as it comes to be, or as it becomes."""
    record, _ = plane.recorded(key)
    action = "U" if ("idempotency_records", f"record-{key}") in plane.rows else "I"
    plane.commit(at, Change("idempotency_records", action, {**record.row, "lease": printed_at(until)}))


def test_a_claim_that_begins_anew_was_taken_over(plane: Plane) -> None:
    claimed(plane, "k", at=10, until=110)
    claimed(plane, "k", at=120, until=220)
    premise = plane.premise(taken_over(at_least=1))
    assert (premise.holds, premise.measured) == (True, "1 of 1 keys were taken over")


def test_a_claim_that_was_given_up_or_only_begun_was_not(plane: Plane) -> None:
    claimed(plane, "given up", at=10, until=110)
    claimed(plane, "given up", at=20, until=20)
    claimed(plane, "begun", at=30, until=130)
    premise = plane.premise(taken_over(at_least=1))
    assert (premise.holds, premise.measured) == (False, "0 of 2 keys were taken over")


def test_each_key_counts_once(plane: Plane) -> None:
    for turn in range(3):
        claimed(plane, "k", at=10 + 100 * turn, until=100 + 100 * turn)
    assert not plane.premise(taken_over(at_least=2)).holds


def test_a_target_that_does_not_say_how_long_a_claim_lasts_cannot_show_it(plane: Plane) -> None:
    plane.unmap("idempotency_records", "claimed_until_us")
    premise = plane.premise(taken_over(at_least=1))
    assert (premise.holds, "have no claimed_until_us" in premise.measured) == (False, True)


def lasted(plane: Plane, *, until: float) -> None:
    plane.resource("r", capacity=1)
    plane.refused("r", sent=1, done=until, key="k")


def test_a_second_term_during_the_load_is_a_second_leader(plane: Plane) -> None:
    lasted(plane, until=100)
    plane.commit(0.5, plane.lease("a", 1, until=50))
    plane.commit(20, plane.lease("a", 1, until=70))
    assert not plane.premise(led(at_least=2)).holds
    plane.commit(80, plane.lease("b", 2, until=130))
    premise = plane.premise(led(at_least=2))
    assert (premise.holds, premise.measured) == (True, "2 terms")


def test_whoever_leads_when_the_leader_is_stopped_at_the_end_does_not_count(plane: Plane) -> None:
    lasted(plane, until=100)
    plane.commit(0.5, plane.lease("a", 1, until=50))
    plane.commit(101, plane.lease("b", 2, until=151))
    assert not plane.premise(led(at_least=2)).holds


def test_two_leads_of_one_term_each_are_no_second_term(plane: Plane) -> None:
    lasted(plane, until=100)
    plane.commit(10, plane.lease("a", 1, until=50))
    plane.commit(20, plane.lease("a", 2, until=60, slot="another"))
    assert not plane.premise(led(at_least=2)).holds


def test_notices_claimed_while_another_sends_are_side_by_side(plane: Plane) -> None:
    plane.commit(1, plane.notice("w1"), plane.notice("w2"), plane.notice("w3"))
    plane.commit(10, plane.notice("w1", state="CLAIMED", claim="one"))
    plane.commit(20, *(plane.notice(entry, state="CLAIMED", claim="two") for entry in ("w2", "w3")))
    plane.commit(30, plane.notice("w1", state="DELIVERED", claim=None))
    premise = plane.premise(claimed_beside(at_least=2))
    assert (premise.holds, premise.measured) == (True, "2 of 3 claims of a notice")


def test_one_sender_after_the_other_is_not(plane: Plane) -> None:
    plane.commit(1, plane.notice("w1"), plane.notice("w2"))
    plane.commit(10, plane.notice("w1", state="CLAIMED", claim="one"))
    plane.commit(20, plane.notice("w1", state="DELIVERED", claim=None))
    plane.commit(30, plane.notice("w2", state="CLAIMED", claim="two"))
    premise = plane.premise(claimed_beside(at_least=1))
    assert (premise.holds, premise.measured) == (False, "0 of 2 claims of a notice")


def test_what_one_sender_claims_at_once_is_in_one_hand(plane: Plane) -> None:
    plane.commit(1, plane.notice("w1"), plane.notice("w2"))
    plane.commit(10, *(plane.notice(entry, state="CLAIMED", claim="one") for entry in ("w1", "w2")))
    assert not plane.premise(claimed_beside(at_least=1)).holds
