"""What a buyer was told had happened stands in the database, as it was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run

NAME = "acknowledged_is_persisted"


def test_an_acknowledged_hold_that_stands_is_valid(run: Run) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    finding = run.finding(NAME)
    assert (finding.judgement, finding.looked_at) == (Judgement.VALID, 1)


@pytest.mark.parametrize("created", ["ghost", None])
def test_an_acknowledged_hold_that_never_was_is_caught(run: Run, created: str | None) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.operation("hold", "r", sent=4, done=5, key="lost", created=created)
    assert run.violated() == {NAME}


def test_a_hold_of_another_resource_is_not_what_was_asked_for(run: Run) -> None:
    run.resource("r", capacity=5)
    run.resource("s", capacity=5)
    run.sold("h1", "s", sent=1, commit=2, done=3, count=1)
    run.operation("hold", "r", sent=4, done=5, key="key-h1", created="h1")
    assert run.violated() == {NAME}


def test_one_hold_given_to_two_buyers_is_caught_though_every_count_is_right(run: Run) -> None:
    run.unmap("holds", "key")
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.operation("hold", "r", sent=1, done=4, key="k2", created="h1")
    assert run.violated() == {NAME}
    assert run.finding(NAME).counter_examples[0]["but"] == "2 buyers were told that it is theirs"


def test_a_hold_made_for_somebody_who_never_heard_of_it_is_not_this_buyers(run: Run) -> None:
    run.resource("r", capacity=1)
    run.commit(2, *run.recorded("k1"), run.held("h1", "r", key="k1"), run.counted("r", 1))
    run.operation("hold", "r", sent=1, done=None, key="k1", outcome="info")
    run.operation("hold", "r", sent=1, done=4, key="k2", created="h1")
    assert run.violated() == {NAME}


@pytest.mark.parametrize(("bears", "violated"), [("", set()), ("k1", {NAME})])
def test_a_hold_told_to_who_sent_no_key_bears_none(run: Run, bears: str, violated: set[str]) -> None:
    run.resource("r", capacity=1)
    run.commit(2, run.told_of(run.held("h1", "r"), idempotency_key=bears), run.counted("r", 1))
    run.operation("hold", "r", sent=1, done=None, key="k1", outcome="info")
    run.operation("hold", "r", sent=1, done=4, key=None, created="h1")
    assert {NAME} & run.violated() == violated


def test_a_buyer_who_asks_twice_is_told_of_the_same_hold(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1, key="k")
    run.operation("hold", "r", sent=4, done=5, key="k", created="h1", replayed=True, attempt=2)
    assert run.finding(NAME).judgement is Judgement.VALID


def test_a_hold_of_fewer_seats_is_not_what_was_asked_for(run: Run) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.operation("hold", "r", sent=4, done=5, key="key-h1", created="h1", quantity=2)
    (example,) = run.finding(NAME).counter_examples
    assert example["but"] == "its quantity is 1, asked for were 2"


def test_an_error_after_an_unknown_commit_is_legal_while_the_row_exists(run: Run) -> None:
    run.resource("r", capacity=5)
    run.commit(2, *run.recorded("k"), run.held("h1", "r", key="k"), run.counted("r", 1))
    run.operation("hold", "r", sent=1, done=5, key="k", outcome="info")
    run.sold("h2", "r", sent=6, commit=7, done=8, count=2)
    assert run.violated() == set()


def test_a_hold_that_was_cleaned_away_later_had_been_there(run: Run) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.commit(9, run.removed("h1"), run.counted("r", 0))
    assert run.violated() == set()


@pytest.mark.parametrize(
    ("kind", "state"), [("confirm", "CANCELLED"), ("cancel", "ACTIVE"), ("confirm", "ACTIVE")]
)
def test_an_acknowledged_end_that_never_came_is_caught(run: Run, kind: str, state: str) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    if state != "ACTIVE":
        run.commit(5, run.held("h1", "r", state=state), run.counted("r", 0))
    run.operation(kind, "h1", sent=4, done=6, key="end")
    assert run.violated() == {NAME}


@pytest.mark.parametrize(("kind", "state"), [("confirm", "CONFIRMED"), ("cancel", "CANCELLED")])
def test_an_acknowledged_end_that_came_is_valid(run: Run, kind: str, state: str) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.commit(5, run.held("h1", "r", state=state), run.counted("r", 1 if state == "CONFIRMED" else 0))
    run.operation(kind, "h1", sent=4, done=6, key="end")
    assert run.finding(NAME).judgement is Judgement.VALID


def test_what_a_lost_load_process_was_told_is_not_known_to_stand(run: Run) -> None:
    run.resource("r", capacity=5)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    run.given(shards=2)
    finding = run.finding(NAME)
    assert finding.judgement is Judgement.UNKNOWN
    assert "nothing from load process 1" in (finding.reason or "")


@pytest.mark.parametrize("stands", [True, False])
def test_a_reservation_that_a_buyer_was_told_of_is_there(run: Run, stands: bool) -> None:
    run.offers_reservations()
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    made = [run.reserved("res", "r")] if stands else []
    count = run.counted("r", len(made))
    run.commit(5, *run.recorded("c", kind="confirm"), run.held("h1", "r", state="CONFIRMED"), *made, count)
    run.operation("confirm", "h1", sent=4, done=6, key="c", created="res")
    assert run.violated() == (set() if stands else {NAME})
