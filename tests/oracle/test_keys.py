"""What a key stands for: replays, conflicts, refusals and what they leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

OWNER, REPLAY, CONFLICT, PINNED, TRACE, REDIS = (
    "only_the_owner_acts",
    "replay_is_identical",
    "reused_key_conflicts",
    "transient_answers_are_not_pinned",
    "refused_left_no_trace",
    "redis_never_decides",
)
SHED: dict[str, Any] = {"outcome": "fail", "code": "ADMISSION_REFUSED", "status": 503}


def sale(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k")


def test_a_refusal_that_is_followed_by_another_answer_under_its_key_is_caught(plane: Plane) -> None:
    sale(plane)
    plane.told_sold_out("r", sent=4, commit=5, done=6, key="late")
    plane.operation("hold", "r", sent=7, done=8, key="late", outcome="fail", code="HOLD_EXPIRED", status=410)
    assert plane.judged(REPLAY) is Judgement.INVALID


def test_who_is_turned_away_for_a_while_and_served_later_is_told_two_things(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.operation("hold", "r", sent=0.1, done=0.2, key="k", **SHED)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k")
    plane.operation("hold", "r", sent=4, done=5, key="k", created="h1", replayed=True)
    assert plane.violated() == set()


def test_an_answer_may_be_repeated_after_its_resource_was_closed_and_nobody_else_gets_in(
    plane: Plane,
) -> None:
    sale(plane)
    plane.told_sold_out("r", sent=4, commit=5, done=6, key="late")
    plane.commit(8, plane.counted("r", 1, state="CLOSED"))
    plane.operation("hold", "r", sent=9, done=10, key="k", created="h1", replayed=True)
    plane.refused("r", sent=11, done=12, key="late", replayed=True)
    shut = plane.recorded("too late")
    plane.commit(14, shut[0], plane.told_of(shut[1], status="409"))
    plane.refused("r", sent=13, done=15, key="too late", code="RESOURCE_CLOSED")
    assert plane.violated() == set()


def test_a_replay_to_somebody_who_asked_for_the_first_time_is_caught(plane: Plane) -> None:
    sale(plane)
    plane.operation("hold", "r", sent=4, done=5, key="k", created="h1", replayed=True, tenant="u", owner="b")
    assert plane.judged(REPLAY) is Judgement.INVALID


@pytest.mark.parametrize("other", [{"owner": "another"}, {"quantity": 2}])
def test_a_key_that_answers_another_command_is_caught(plane: Plane, other: dict[str, Any]) -> None:
    sale(plane)
    plane.operation("hold", "r", sent=4, done=5, key="k", created="h1", replayed=True, **other)
    assert plane.judged(CONFLICT) is Judgement.INVALID


def test_a_default_that_is_spelled_out_is_the_same_command(plane: Plane) -> None:
    sale(plane)
    plane.operation(
        "hold", "r", sent=4, done=5, key="k", created="h1", replayed=True, request_digest="spelled out"
    )
    assert plane.judged(CONFLICT) is Judgement.VALID


def test_a_conflict_with_oneself_is_caught(plane: Plane) -> None:
    sale(plane)
    plane.operation("hold", "r", sent=4, done=5, key="k", outcome="fail", code="KEY_CONFLICT")
    assert plane.violated() == {CONFLICT}


def test_the_same_key_of_another_operation_is_another_key(plane: Plane) -> None:
    sale(plane)
    cancelled = (plane.hold("h1", state="CANCELLED"), plane.counted("r", 0))
    plane.ends("cancel", "h1", *cancelled, sent=4, commit=5, done=6, key="k")
    assert plane.violated() == set()


def test_a_failure_that_was_stored_is_caught_where_answers_do_not_say_that_they_are_replays(
    plane: Plane,
) -> None:
    plane.resource("r", capacity=1)
    record, answer = plane.recorded("k")
    plane.commit(2, record, plane.told_of(answer, status="500"))
    plane.operation("hold", "r", sent=1, done=3, key="k", outcome="info", status=500, replayed=None)
    assert plane.judged(PINNED) is Judgement.INVALID


def test_a_failure_that_was_not_stored_is_not_pinned(plane: Plane) -> None:
    plane.operation("hold", "r", sent=1, done=2, key="k", **SHED)
    finding = plane.finding(PINNED)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 1)


def test_a_refused_twin_of_one_who_never_learnt_proves_nothing(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.operation("hold", "r", sent=1, done=9, key="k", outcome="info")
    plane.operation("hold", "r", sent=1, done=2, key="k", outcome="fail", code="IN_PROGRESS")
    plane.commit(5, *plane.recorded("k"), plane.hold("h1", idempotency_key="k"), plane.counted("r", 1))
    plane.operation("hold", "r", sent=10, done=11, key="z", **SHED)
    assert plane.violated() == set()


def test_an_end_that_was_refused_to_all_who_asked_for_it_and_came_is_caught(plane: Plane) -> None:
    sale(plane)
    plane.operation("cancel", "h1", sent=4, done=6, key="c", owner=plane.owner_of("h1"), **SHED)
    plane.commit(5, plane.hold("h1", state="CANCELLED"), plane.counted("r", 0))
    assert plane.violated() == {TRACE, OWNER}


def test_an_end_that_another_key_brought_about_is_no_trace(plane: Plane) -> None:
    sale(plane)
    owner = plane.owner_of("h1")
    plane.operation("cancel", "h1", sent=4, done=6, key="c", owner=owner, **SHED)
    plane.ends(
        "cancel", "h1", plane.hold("h1", state="CANCELLED"), plane.counted("r", 0), sent=7, commit=8, done=9
    )
    assert plane.violated() == set()


def test_who_could_not_leave_and_was_sent_away_at_closing_left_no_trace(plane: Plane) -> None:
    sale(plane)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.operation("leave_waitlist", "e1", sent=7, done=8, key="l", owner=plane.owner_of("e1"), **SHED)
    plane.commit(9, plane.entry("e1", state="LEFT", reason="CLOSED"), plane.counted("r", 1, state="CLOSED"))
    assert plane.violated() == set()


def test_an_answer_that_was_stored_for_a_refused_key_is_caught(plane: Plane) -> None:
    sale(plane)
    plane.operation("cancel", "h1", sent=4, done=6, key="c", owner=plane.owner_of("h1"), **SHED)
    plane.commit(5, *plane.recorded("c", kind="cancel"))
    assert plane.judged(TRACE) is Judgement.INVALID


def test_a_refusal_for_a_while_need_not_stand_in_the_database(plane: Plane) -> None:
    sale(plane)
    plane.operation("hold", "r", sent=4, done=5, key="z", **SHED)
    plane.told_sold_out("r", sent=6, commit=7, done=8, key="late")
    finding = plane.finding(REDIS)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 1)
