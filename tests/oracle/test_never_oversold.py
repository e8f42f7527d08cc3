"""At every commit the live claims on a resource, counted from their rows, are at most its capacity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run


def test_one_buyer_for_one_seat_is_valid(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    finding = run.finding("never_oversold")
    assert (finding.judgement, finding.reason, finding.looked_at) == (Judgement.VALID, None, 1)


def test_two_holds_of_one_seat_are_caught_even_if_the_counter_agrees(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.sold("h2", "r", sent=1, commit=4, done=5, count=2)
    assert run.violated() == {"never_oversold"}


def test_a_counter_that_lost_an_update_looks_innocent_and_does_not_help(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.sold("h2", "r", sent=1, commit=4, done=5, count=1)
    assert "never_oversold" in run.violated()


def test_a_seat_that_was_sold_twice_for_one_commit_is_caught(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.sold("h2", "r", sent=1, commit=4, done=5, count=2)
    run.commit(6, run.held("h1", "r", state="CANCELLED"), run.counted("r", 1))
    assert run.violated() == {"never_oversold"}


def test_a_seat_that_changes_hands_within_one_commit_is_legal(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.commit(6, run.held("h1", "r", state="CANCELLED"), run.held("h2", "r", key="k2"))
    run.operation("hold", "r", sent=5, done=7, key="k2", created="h2")
    assert run.violated() == set()


def test_quantities_count_not_rows(run: Run) -> None:
    run.resource("r", capacity=3)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=2, quantity=2)
    run.sold("h2", "r", sent=1, commit=4, done=5, count=4, quantity=2)
    assert run.violated() == {"never_oversold"}


def test_a_confirmed_hold_is_still_a_claim_where_there_are_no_reservations(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.commit(4, run.held("h1", "r", state="CONFIRMED"))
    run.sold("h2", "r", sent=5, commit=6, done=7, count=2)
    assert run.violated() == {"never_oversold"}


def test_a_hold_and_the_reservation_made_of_it_are_one_claim(run: Run) -> None:
    run.offers_reservations()
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.commit(4, run.held("h1", "r", state="CONFIRMED"), run.reserved("v1", "r"))
    assert run.violated() == set()


def test_an_open_offer_is_a_claim(run: Run) -> None:
    run.offers_offers()
    run.resource("r", capacity=1)
    run.commit(1, run.offered("o1", "r"), run.counted("r", 1))
    run.sold("h1", "r", sent=1, commit=2, done=3, count=2)
    assert run.violated() == {"never_oversold"}


@pytest.mark.parametrize("emptied", ["D", "T"])
def test_deleted_and_truncated_holds_claim_nothing(run: Run, emptied: str) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.commit(4, run.removed("h1", emptied), run.counted("r", 0))
    run.sold("h2", "r", sent=5, commit=6, done=7, count=1)
    assert run.violated() == set()


def test_the_witness_tells_who_got_the_seat_and_the_count_after_each_commit(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.sold("h2", "r", sent=1, commit=4, done=5, count=1)
    told = [(line.at_ms, line.what) for line in run.finding("never_oversold").witness]
    assert told == [
        (1.0, "sends hold on #r to node a"),
        (1.0, "sends hold on #r to node a"),
        (2.0, "+1 → 1 of 1 claimed, counted 1"),
        (3.0, "is told ok 201, hold h1"),
        (4.0, "+1 → 2 of 1 claimed, counted 1"),
        (5.0, "is told ok 201, hold h2"),
        (5.0, "resource r, claimed 2, capacity 1"),
    ]


def test_a_long_witness_keeps_its_beginning_and_its_end(run: Run) -> None:
    run.resource("r", capacity=3)
    for number in range(1, 10):
        run.sold(
            f"h{number}", "r", sent=number, commit=number + 0.2, done=number + 0.5, count=number, key="k"
        )
    witness = run.finding("one_effect_per_key").witness
    assert len(witness) == 12
    assert [line.what for line in witness if line.who == "…"] == ["17 more"]
    assert witness[-1].who == "in sum"


def test_nothing_is_said_of_a_run_in_which_nobody_claimed_anything(run: Run) -> None:
    run.resource("r", capacity=1)
    finding = run.finding("never_oversold")
    assert (finding.judgement, finding.reason) == (Judgement.UNKNOWN, "there was nothing to look at")


def test_without_a_trail_it_is_unknown_and_says_so(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.not_written |= {"base", "changes"}
    finding = run.finding("never_oversold")
    assert finding.judgement is Judgement.UNKNOWN
    assert "no trail was recorded of holds" in (finding.reason or "")


def test_a_target_that_knows_no_capacity_is_not_offered_it(run: Run) -> None:
    run.resource("r", capacity=1)
    run.unmap("resources", "capacity")
    finding = run.finding("never_oversold")
    assert finding.judgement is Judgement.UNKNOWN
    assert finding.reason == "not offered: the target's resources have no capacity"
