"""States move one way and end for good; nothing happens once the time is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement
from tests.oracle.by_hand.instants import printed_at
from tests.oracle.by_hand.target import Change

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

STATES, TERMINAL, EXPIRY, EARLY = (
    "states_move_one_way",
    "terminal_rows_never_change",
    "nothing_happens_after_expiry",
    "nothing_expires_early",
)


def sale(plane: Plane, *, until: float = 900) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.rows["holds", "h1"]["expires_at"] = printed_at(until)


def confirmed(plane: Plane, *, sent: float, commit: float, **about: object) -> None:
    changes = (plane.hold("h1", state="CONFIRMED"), plane.reservation("b1", hold_id="h1"))
    plane.ends("confirm", "h1", *changes, sent=sent, commit=commit, done=commit + 1, created="b1", **about)


@pytest.mark.parametrize("state", ["CONFIRMED", "ACTIVE"])
def test_a_hold_that_rises_again_is_caught(plane: Plane, state: str) -> None:
    sale(plane)
    plane.commit(5, plane.hold("h1", state="EXPIRED"), plane.counted("r", 0))
    plane.commit(6, plane.hold("h1", state=state))
    assert plane.judged(STATES) is Judgement.INVALID
    assert plane.judged(TERMINAL) is Judgement.INVALID


def test_a_step_inside_a_transaction_is_seen_too(plane: Plane) -> None:
    sale(plane)
    plane.commit(5, plane.hold("h1", state="EXPIRED"), plane.hold("h1", state="CONFIRMED"))
    assert plane.judged(STATES) is Judgement.INVALID


def test_a_resource_that_opens_again_is_caught(plane: Plane) -> None:
    sale(plane)
    plane.commit(5, plane.counted("r", 1, state="CLOSED"))
    plane.commit(6, plane.counted("r", 1, state="OPEN"))
    assert plane.violated() == {STATES}


def test_a_closed_resource_still_counts_down(plane: Plane) -> None:
    sale(plane)
    plane.commit(5, plane.counted("r", 1, state="CLOSED"))
    plane.ends(
        "cancel", "h1", plane.hold("h1", state="CANCELLED"), plane.counted("r", 0), sent=6, commit=7, done=8
    )
    assert plane.judged(TERMINAL) is Judgement.VALID


def test_an_ended_row_may_be_cleaned_away_and_its_key_used_anew(plane: Plane) -> None:
    sale(plane)
    plane.commit(5, plane.hold("h1", state="EXPIRED"), plane.counted("r", 0))
    plane.commit(6, plane.removed("h1"))
    plane.commit(7, plane.hold("h1", quantity=1), plane.counted("r", 1))
    assert plane.judged(STATES) is Judgement.VALID
    assert plane.judged(TERMINAL) is Judgement.VALID


def test_an_ended_row_that_is_replaced_within_one_transaction_is_caught(plane: Plane) -> None:
    sale(plane)
    plane.commit(5, plane.hold("h1", state="EXPIRED"), plane.counted("r", 0))
    plane.commit(6, plane.removed("h1"), Change("holds", "I", plane.hold("h1", state="ACTIVE").row))
    assert plane.judged(TERMINAL) is Judgement.INVALID


def test_a_stored_answer_that_is_overwritten_is_caught(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.told_sold_out("r", sent=1, commit=2, done=3, key="k")
    plane.commit(5, plane.put("idempotency_answers", "record-k", status=201))
    assert plane.judged(TERMINAL) is Judgement.INVALID


def test_a_confirm_decided_before_the_end_may_commit_after_it(plane: Plane) -> None:
    sale(plane, until=10)
    confirmed(plane, sent=8, commit=12)
    finding = plane.finding(EXPIRY)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 1)


def test_a_confirm_that_waited_past_the_end_for_the_row_is_caught(plane: Plane) -> None:
    """Somebody wrote the resource after the end, and the confirm had its lock only then."""
    sale(plane, until=10)
    plane.commit(11, plane.counted("r", 1))
    confirmed(plane, sent=8, commit=12)
    assert plane.violated() == {EXPIRY}


def test_where_the_resource_is_not_locked_first_who_wrote_it_proves_nothing(plane: Plane) -> None:
    plane.unmap("resources", "locked_first")
    sale(plane, until=10)
    plane.commit(11, plane.counted("r", 1))
    confirmed(plane, sent=8, commit=12)
    assert plane.judged(EXPIRY) is Judgement.VALID


def test_who_wrote_the_hold_itself_after_the_end_proves_it_always(plane: Plane) -> None:
    plane.unmap("resources", "locked_first")
    sale(plane, until=10)
    plane.commit(11, plane.hold("h1", revision=1))
    confirmed(plane, sent=8, commit=12)
    assert plane.judged(EXPIRY) is Judgement.INVALID


def test_a_deadline_that_is_moved_in_the_end_is_still_the_first(plane: Plane) -> None:
    sale(plane, until=10)
    changes = (
        plane.hold("h1", state="CONFIRMED", expires_at=printed_at(50)),
        plane.reservation("b1", hold_id="h1"),
    )
    plane.ends("confirm", "h1", *changes, sent=11, commit=12, done=13, created="b1")
    assert plane.judged(EXPIRY) is Judgement.INVALID


def test_a_replay_after_the_end_tells_what_was_decided_before_it(plane: Plane) -> None:
    sale(plane, until=10)
    confirmed(plane, sent=4, commit=5, key="c")
    owner = plane.owner_of("h1")
    plane.operation("confirm", "h1", sent=20, done=21, key="c", created="b1", replayed=True, owner=owner)
    assert plane.violated() == set()


@pytest.mark.parametrize(("sent", "judgement"), [(9, Judgement.VALID), (11, Judgement.INVALID)])
def test_a_confirm_of_which_nobody_was_told_is_judged_by_when_it_was_sent(
    plane: Plane, sent: float, judgement: Judgement
) -> None:
    sale(plane, until=10)
    plane.commit(12, plane.hold("h1", state="CONFIRMED"), plane.reservation("b1", hold_id="h1"))
    plane.operation("confirm", "h1", sent=sent, done=40, key="c", outcome="info", owner=plane.owner_of("h1"))
    assert plane.judged(EXPIRY) is judgement


def test_an_offer_that_is_accepted_after_its_time_is_caught(plane: Plane) -> None:
    sale(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    handed = plane.promoted("e1", "o1", until=20)
    plane.ends("cancel", "h1", plane.hold("h1", state="CANCELLED"), *handed, sent=7, commit=8, done=9)
    accepted = (
        plane.offer("o1", "e1", state="ACCEPTED"),
        plane.entry("e1", state="ACCEPTED"),
        plane.reservation("b1", offer_id="o1"),
    )
    plane.ends("accept_offer", "o1", *accepted, sent=21, commit=22, done=23, created="b1")
    assert plane.violated() == {EXPIRY}


def test_what_a_sweep_ends_after_its_time_is_as_it_should_be(plane: Plane) -> None:
    sale(plane, until=10)
    plane.commit(4, plane.lease("a", 1, until=100))
    plane.commit(12, plane.hold("h1", state="EXPIRED", term=1), plane.counted("r", 0))
    assert plane.violated() == set()


def test_a_deadline_that_a_sweep_brings_forward_excuses_nothing(plane: Plane) -> None:
    sale(plane, until=20)
    plane.commit(12, plane.hold("h1", state="EXPIRED", expires_at=printed_at(11)), plane.counted("r", 0))
    assert plane.judged(EARLY) is Judgement.INVALID


def test_a_deadline_that_was_brought_forward_in_a_commit_of_its_own_excuses_nothing(plane: Plane) -> None:
    sale(plane, until=20)
    plane.commit(10, plane.hold("h1", expires_at=printed_at(11)))
    plane.commit(12, plane.hold("h1", state="EXPIRED"), plane.counted("r", 0))
    assert plane.judged(EARLY) is Judgement.INVALID


def test_a_hold_that_was_given_more_time_may_still_end_when_it_was_first_to(plane: Plane) -> None:
    sale(plane, until=20)
    plane.commit(10, plane.hold("h1", expires_at=printed_at(50)))
    plane.commit(22, plane.hold("h1", state="EXPIRED"), plane.counted("r", 0))
    assert plane.judged(EARLY) is Judgement.VALID


def test_that_nothing_ended_early_means_nothing_where_a_word_is_unknown(plane: Plane) -> None:
    sale(plane, until=10)
    plane.commit(12, plane.hold("h1", state="EXPIRED"), plane.counted("r", 0))
    assert plane.judged(EARLY) is Judgement.VALID
    plane.sold("h2", "r", sent=13, commit=14, done=15, count=1)
    plane.commit(16, plane.hold("h2", state="TIMED_OUT"), plane.counted("r", 0))
    finding = plane.finding(EARLY)
    assert finding.judgement is Judgement.UNKNOWN
    assert "states_known" in (finding.reason or "")


def test_an_offer_that_ends_before_its_time_is_caught(plane: Plane) -> None:
    sale(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    handed = plane.promoted("e1", "o1", until=20)
    plane.ends("cancel", "h1", plane.hold("h1", state="CANCELLED"), *handed, sent=7, commit=8, done=9)
    over = (plane.offer("o1", "e1", state="EXPIRED"), plane.entry("e1", state="EXPIRED"))
    plane.commit(12, *over, plane.counted("r", 0))
    assert plane.judged(EARLY) is Judgement.INVALID
