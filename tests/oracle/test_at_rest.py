"""What is left when all is at rest: nothing owed, no permit out, no key that lives for ever, no open transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement
from tests.oracle.by_hand.instants import printed_at

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

LEFT, PERMITS, IMMORTAL, LEAKED = (
    "nothing_left_behind",
    "permits_return",
    "no_immortal_keys",
    "no_leaked_transactions",
)


def sale(plane: Plane, *, until: float) -> None:
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.rows["holds", "h1"]["expires_at"] = printed_at(until)


@pytest.mark.parametrize(("rest", "judgement"), [(5_800, Judgement.VALID), (6_000, Judgement.INVALID)])
def test_an_expired_hold_has_some_time_to_be_swept(plane: Plane, rest: float, judgement: Judgement) -> None:
    sale(plane, until=900)
    plane.rest_at = rest
    assert plane.judged(LEFT) is judgement


def test_somebody_who_waits_beside_a_free_seat_was_left_behind(plane: Plane) -> None:
    plane.resource("r", capacity=1)
    plane.joins("e1", sent=1, commit=2, done=3, seq=1)
    assert plane.violated() == {LEFT}


def test_somebody_who_waits_for_a_closed_resource_was_left_behind(plane: Plane) -> None:
    sale(plane, until=1e6)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.commit(8, plane.counted("r", 1, state="CLOSED"))
    assert plane.violated() == {LEFT}


def test_somebody_whose_offer_is_gone_was_left_behind(plane: Plane) -> None:
    sale(plane, until=1e6)
    plane.joins("e1", sent=4, commit=5, done=6, seq=1)
    plane.passes_on("h1", "e1", "o1", sent=7, commit=8, done=9)
    plane.commit(20, plane.offer("o1", "e1", state="DECLINED"), plane.counted("r", 0))
    assert LEFT in plane.violated()


@pytest.mark.parametrize(
    "overdue",
    [
        {"state": "PENDING", "next_at": printed_at(10)},
        {"state": "CLAIMED", "claimed_until": printed_at(10)},
    ],
)
def test_a_message_that_was_due_long_ago_was_left_behind(plane: Plane, overdue: dict[str, str]) -> None:
    plane.stood(plane.notice("e1", entry_id=None, **overdue))
    assert plane.judged(LEFT) is Judgement.VALID
    plane.rest_at = 6_000
    assert plane.judged(LEFT) is Judgement.INVALID


def test_what_the_runner_still_saw_owed_was_left_behind(plane: Plane) -> None:
    sale(plane, until=1e6)
    plane.sample("unsettled", "holds to end", 3, at=100)
    plane.sample("unsettled", "holds to end", 0, at=200)
    assert plane.judged(LEFT) is Judgement.VALID
    plane.sample("unsettled", "holds to end", 1, at=300)
    assert plane.judged(LEFT) is Judgement.INVALID


def permits(plane: Plane, *, out: float, at: float) -> None:
    plane.operation("read", "r", sent=1, done=2)
    for metric, value in (("permits_max", 8), ("permit_lease_seconds", 0.5), ("permits", out)):
        plane.sample("redis", metric, value, at=at)


@pytest.mark.parametrize(
    ("out", "at", "judgement"),
    [
        (8, 1.5, Judgement.VALID),
        (9, 1.5, Judgement.INVALID),
        (1, 500, Judgement.VALID),
        (1, 503, Judgement.INVALID),
        (0, 503, Judgement.VALID),
    ],
)
def test_permits_come_back_when_their_leases_are_over(
    plane: Plane, out: float, at: float, judgement: Judgement
) -> None:
    permits(plane, out=out, at=at)
    assert plane.judged(PERMITS) is judgement


def test_a_key_that_gets_its_time_to_live_a_moment_late_is_mortal(plane: Plane) -> None:
    plane.sample("redis", "immortal_keys", 1, at=10)
    plane.sample("redis", "immortal_keys", 0, at=20)
    assert plane.judged(IMMORTAL) is Judgement.VALID


def test_a_transaction_that_idles_for_long_is_caught_unless_its_client_was_broken(plane: Plane) -> None:
    plane.sample("database", "idle_in_transaction_seconds", 6, at=9_000)
    assert plane.violated() == {LEAKED}
    plane.sample("database", "transaction_seconds", 0, at=9_500)
    plane.sample("database", "advisory_locks", 0, at=9_500)
    plane.broken(since=2_500, until=8_500)
    assert plane.judged(LEAKED) is Judgement.VALID


def settling(plane: Plane, *seconds: float, every: float = 50) -> None:
    """So old was the oldest open transaction at each look, and one was open at each of them."""
    for metric in ("idle_in_transaction_seconds", "advisory_locks"):
        plane.sample("database", metric, 0, at=1_800)
    for look, age in enumerate(seconds):
        at = 1_900 + look * every
        plane.sample("unsettled", "open transactions", age > 0, at=at)
        plane.sample("database", "transaction_seconds", age, at=at)


def test_workers_of_whom_one_is_always_in_some_transaction_leak_none(plane: Plane) -> None:
    settling(plane, *(0.02 + 0.01 * (look % 5) for look in range(30)))
    assert plane.judged(LEAKED) is Judgement.VALID


@pytest.mark.parametrize(
    ("seconds", "caught"),
    [
        ((0.04,), False),
        ((1.5,), False),
        ((0.9, 0.95), False),
        ((0.1, 0.1, 1.04), False),
        ((1.0, 1.05), True),
        ((0.3, 14.0, 14.05), True),
        ((3.95, 4.0, 0, 0), False),
    ],
    ids=["one look", "one long look", "not long", "another", "for a second", "to the end", "at last ended"],
)
def test_a_transaction_is_leaked_that_the_last_two_looks_find_open_for_a_second(
    plane: Plane, seconds: tuple[float, ...], *, caught: bool
) -> None:
    settling(plane, *seconds)
    assert plane.judged(LEAKED) is (Judgement.INVALID if caught else Judgement.VALID)


def test_where_nobody_looked_at_rest_it_is_not_known_whether_a_transaction_was_left_open(
    plane: Plane,
) -> None:
    plane.sample("database", "idle_in_transaction_seconds", 0, at=100)
    assert plane.judged(LEAKED) is Judgement.UNKNOWN


@pytest.mark.parametrize("metric", ["idle_in_transaction_seconds", "transaction_seconds", "advisory_locks"])
def test_where_nobody_looked_at_one_of_them_it_is_not_known_whether_it_was_left(
    plane: Plane, metric: str
) -> None:
    settling(plane, 0, 0)
    assert plane.judged(LEAKED) is Judgement.VALID
    plane.samples = [sample for sample in plane.samples if sample["metric"] != metric]
    assert plane.judged(LEAKED) is Judgement.UNKNOWN


def test_a_lock_that_outlives_the_load_is_caught(plane: Plane) -> None:
    plane.sample("database", "idle_in_transaction_seconds", 0, at=100)
    plane.sample("database", "advisory_locks", 1, at=100)
    assert plane.violated() == {LEAKED}


def test_a_lock_that_only_the_end_of_the_service_frees_is_caught(plane: Plane) -> None:
    plane.sample("database", "advisory_locks", 1, at=1_890)
    plane.sample("unsettled", "open transactions", 0, at=1_900)
    plane.sample("database", "advisory_locks", 0, at=1_950)
    assert plane.violated() == {LEAKED}
