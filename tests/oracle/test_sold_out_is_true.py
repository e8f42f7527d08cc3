"""Nobody is told "sold out" of a resource that was certainly free throughout the call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement
from tests.oracle.by_hand.target import Change

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run

NAME = "sold_out_is_true"


def freed(run: Run, *, at: float, told: float | None, seats: int = 1) -> int:
    """A sold-out resource of which some seats are given back at one time, which is acknowledged at another."""
    run.resource("r", capacity=seats)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=seats, quantity=seats)
    xid = run.commit(
        at,
        *run.recorded("cancel", kind="cancel"),
        run.held("h1", "r", state="CANCELLED", quantity=seats),
        run.counted("r", 0),
    )
    if told is None:
        run.operation("cancel", "h1", sent=at - 1, done=None, key="cancel", outcome="info")
    else:
        run.operation("cancel", "h1", sent=at - 1, done=told, key="cancel")
    return xid


def test_a_refusal_while_the_hold_was_live_is_true(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.refused("r", sent=4, done=5, key="k")
    finding = run.finding(NAME)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 1)


def test_a_refusal_of_a_resource_that_was_never_sold_is_caught(run: Run) -> None:
    run.resource("r", capacity=1)
    run.resource("s", capacity=1)
    run.sold("h1", "s", sent=1, commit=2, done=3, count=1)
    run.refused("r", sent=4, done=5, key="k")
    assert run.violated() == {NAME}


def test_a_refusal_after_an_acknowledged_cancel_is_caught(run: Run) -> None:
    freed(run, at=5, told=6)
    run.refused("r", sent=7, done=8, key="k")
    assert run.violated() == {NAME}


@pytest.mark.parametrize(("seen", "judged"), [(True, Judgement.INVALID), (False, Judgement.UNKNOWN)])
def test_where_nobody_knows_since_when_there_was_room_no_refusal_was_looked_at(
    run: Run, seen: bool, judged: Judgement
) -> None:
    resource = run.resource("r", capacity=1)
    run.base.clear()
    xid = run.commit(1, Change("resources", "I", resource))
    if seen:
        run.snapshot(2, sees=[xid])
    run.refused("r", sent=4, done=5, key="k")
    finding = run.finding(NAME)
    assert (finding.judgement, finding.looked_at) == (judged, int(seen))


def test_a_refusal_of_a_resource_whose_capacity_is_unknown_was_not_looked_at(run: Run) -> None:
    run.resource("r", capacity=1)["capacity"] = None
    run.refused("r", sent=4, done=5, key="k")
    finding = run.finding(NAME)
    assert (finding.judgement, finding.looked_at) == (Judgement.UNKNOWN, 0)


def test_the_witness_tells_since_when_there_was_room(run: Run) -> None:
    freed(run, at=5, told=6)
    run.refused("r", sent=7, done=8, key="k")
    told = [(line.at_ms, line.what) for line in run.finding(NAME).witness]
    assert told == [
        (2.0, "+1 → 1 of 1 claimed"),
        (5.0, "-1 → 0 of 1 claimed"),
        (6.0, "certainly has room from here on"),
        (7.0, "sends hold on #r to node a"),
        (8.0, "is told fail 409 CAPACITY_EXHAUSTED"),
        (8.0, "op 2, resource r, quantity 1, key k"),
    ]


@pytest.mark.parametrize("told", [None, 20])
def test_a_cancel_that_committed_may_not_be_visible_yet(run: Run, told: float | None) -> None:
    freed(run, at=5, told=told)
    run.refused("r", sent=7, done=8, key="k")
    assert run.violated() == set()


def test_a_snapshot_that_shows_the_cancel_makes_it_certain(run: Run) -> None:
    xid = freed(run, at=5, told=None)
    run.snapshot(6, sees=[700, xid])
    run.refused("r", sent=7, done=8, key="k")
    assert run.violated() == {NAME}


def test_a_snapshot_in_which_the_cancel_still_runs_makes_nothing_certain(run: Run) -> None:
    xid = freed(run, at=5, told=None)
    run.snapshot(6, sees=[700], running=[xid])
    run.refused("r", sent=7, done=8, key="k")
    run.snapshot(9, sees=[700, xid])
    assert run.violated() == set()


def test_a_snapshot_in_which_the_cancel_had_not_begun_makes_nothing_certain(run: Run) -> None:
    freed(run, at=5, told=None)
    run.snapshot(6, sees=[700])
    run.refused("r", sent=7, done=8, key="k")
    assert run.violated() == set()


def test_a_snapshot_from_before_the_commit_cannot_show_it(run: Run) -> None:
    run.snapshot(4, sees=[700, 701])  # a transaction of the same xid had been there, and was lost in a crash
    freed(run, at=5, told=None)
    run.refused("r", sent=4.5, done=4.8, key="k")
    run.snapshot(9, sees=[700, 701])
    assert run.violated() == set()


def test_an_answer_from_before_the_commit_does_not_acknowledge_it(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    answer = run.told_of(run.recorded("key-h1")[1], status="200")
    run.commit(9, answer, run.held("h1", "r", state="CANCELLED"), run.counted("r", 0))
    run.refused("r", sent=7, done=8, key="k")
    assert run.violated() == set()


def test_a_twin_that_was_turned_away_does_not_acknowledge_the_cancel(run: Run) -> None:
    freed(run, at=5, told=None)
    run.operation(
        "cancel", "h1", sent=5, done=6, key="cancel", outcome="fail", code="IDEMPOTENCY_IN_PROGRESS"
    )
    run.refused("r", sent=7, done=8, key="k")
    assert run.violated() == set()


def test_xids_that_wrapped_around_are_found_in_snapshots_that_do_not_wrap(run: Run) -> None:
    run.xid_offset = 3 * 2**32 - 701  # the cancel is the first transaction of a new epoch
    xid = freed(run, at=5, told=None)
    run.snapshot(6, sees=[700, xid])
    run.refused("r", sent=7, done=8, key="k")
    assert run.violated() == {NAME}


def test_xids_of_another_epoch_do_not_look_visible(run: Run) -> None:
    run.xid_offset = 3 * 2**32 - 701
    freed(run, at=5, told=None)
    run.snapshot(6, sees=[700])
    run.refused("r", sent=7, done=8, key="k")
    assert run.violated() == set()


def test_a_snapshot_from_before_a_restart_says_nothing_of_an_xid_given_out_again(run: Run) -> None:
    run.snapshot(1, sees=[700, 701, 702])
    freed(run, at=5, told=None)
    run.snapshot(6, sees=[700])
    run.refused("r", sent=7, done=8, key="k")
    assert run.violated() == set()


def test_a_seat_that_came_free_during_the_call_may_be_refused(run: Run) -> None:
    freed(run, at=5, told=6)
    run.refused("r", sent=5.5, done=8, key="k")
    assert run.violated() == set()


def test_a_seat_that_was_taken_before_the_answer_may_be_refused(run: Run) -> None:
    freed(run, at=5, told=6)
    run.sold("h2", "r", sent=6, commit=7.5, done=9, count=1)
    run.refused("r", sent=7, done=8, key="k")
    assert run.violated() == set()


def test_a_replayed_refusal_was_true_when_its_key_was_first_sent(run: Run) -> None:
    freed(run, at=5, told=6)
    run.operation("hold", "r", sent=4, done=None, key="k", outcome="info")
    run.refused("r", sent=7, done=8, key="k", replayed=True, attempt=2)
    assert run.violated() == set()


def test_free_seats_stay_certain_while_others_are_sold(run: Run) -> None:
    freed(run, at=5, told=6, seats=3)
    run.sold("h2", "r", sent=6.5, commit=8, done=9, count=1)
    run.refused("r", sent=7, done=10, key="k")
    run.sold("h3", "r", sent=10, commit=11, done=12, count=2)
    assert run.violated() == {NAME}


@pytest.mark.parametrize(("free", "violated"), [(1, set()), (2, {NAME})])
def test_two_seats_have_room_where_two_are_free(run: Run, free: int, violated: set[str]) -> None:
    freed(run, at=5, told=6, seats=free)
    run.refused("r", sent=7, done=8, key="k", quantity=2)
    assert run.violated() == violated


def test_a_closed_resource_has_no_room(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.commit(
        5,
        *run.recorded("cancel", kind="cancel"),
        run.held("h1", "r", state="CANCELLED"),
        run.counted("r", 0, state="CLOSED"),
    )
    run.operation("cancel", "h1", sent=4, done=6, key="cancel")
    run.refused("r", sent=7, done=8, key="k")
    assert run.violated() == set()


def test_an_expired_hold_that_was_not_swept_yet_still_holds_its_seat(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.refused("r", sent=900, done=901, key="k")
    run.commit(950, run.held("h1", "r", state="EXPIRED"), run.counted("r", 0))
    assert run.violated() == set()


def test_a_refusal_for_another_reason_says_nothing_of_room(run: Run) -> None:
    run.resource("r", capacity=1)
    run.refused("r", sent=4, done=5, key="k", code="RESOURCE_REVISION_CONFLICT")
    finding = run.finding(NAME)
    assert (finding.judgement, finding.looked_at) == (Judgement.UNKNOWN, 0)


def test_commit_times_out_of_order_with_the_log_convict_nobody(run: Run) -> None:
    # In the log the sale stands after the cancel, but bears an earlier time: between the two nothing is certain.
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.commit(
        6, *run.recorded("c", kind="cancel"), run.held("h1", "r", state="CANCELLED"), run.counted("r", 0)
    )
    run.operation("cancel", "h1", sent=4, done=6.5, key="c")
    run.commit(5.9, *run.recorded("k2"), run.held("h2", "r", key="k2"), run.counted("r", 1), lsn=7)
    run.operation("hold", "r", sent=5, done=9, key="k2", created="h2")
    run.refused("r", sent=7, done=8, key="k")
    assert run.violated() == set()
