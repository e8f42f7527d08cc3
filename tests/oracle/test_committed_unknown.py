"""Commits of which nobody was told who had asked by then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.assumptions import committed_unknown

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run

UNKNOWN = committed_unknown(at_least=1)


@pytest.fixture
def sale(run: Run) -> Run:
    run.resource("r", capacity=9)
    return run


def commits(run: Run, *, at: float) -> None:
    run.commit(at, *run.recorded("k"), run.held("h", "r", key="k"), run.counted("r", 1))


def asks(run: Run, *, sent: float, outcome: str = "info", attempt: int = 1) -> None:
    created = "h" if outcome == "ok" else None
    run.operation(
        "hold", "r", sent=sent, done=sent + 20, key="k", outcome=outcome, attempt=attempt, created=created
    )


def test_a_commit_whose_answer_was_lost_is_unknown_though_it_is_learnt_by_asking_again(sale: Run) -> None:
    asks(sale, sent=10)
    commits(sale, at=20)
    premise = sale.premise(UNKNOWN)
    assert (premise.holds, premise.measured) == (True, "1 of them")
    asks(sale, sent=40, outcome="ok", attempt=2)
    assert sale.premise(UNKNOWN).holds


def test_a_command_that_only_the_second_attempt_carried_out_was_known_at_once(sale: Run) -> None:
    asks(sale, sent=10)
    asks(sale, sent=40, outcome="ok", attempt=2)
    commits(sale, at=50)
    premise = sale.premise(UNKNOWN)
    assert (premise.holds, premise.measured) == (False, "0 of them")


def test_a_twin_who_was_told_makes_it_known(sale: Run) -> None:
    asks(sale, sent=10)
    asks(sale, sent=11, outcome="ok", attempt=2)
    commits(sale, at=20)
    assert not sale.premise(UNKNOWN).holds


def test_an_unknown_answer_to_what_was_never_committed_does_not_count(sale: Run) -> None:
    asks(sale, sent=10)
    assert not sale.premise(UNKNOWN).holds


def test_without_a_trail_nothing_is_known_of_commits(sale: Run) -> None:
    asks(sale, sent=10)
    commits(sale, at=20)
    sale.not_written |= {"changes"}
    assert not sale.premise(UNKNOWN).holds
