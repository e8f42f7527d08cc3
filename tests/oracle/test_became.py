"""What became of rows is told by the state at rest, where no operation tells of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.assumptions import became

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run


@pytest.mark.parametrize(
    ("least", "holds"),
    [(1, True), (2, False)],
)
def test_rows_at_rest_are_counted_by_their_state(run: Run, least: int, holds: bool) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    premise = run.premise(became("holds:ACTIVE", at_least=least))
    assert (premise.holds, premise.measured) == (holds, "holds:ACTIVE 1×")


def test_all_of_the_states_are_needed(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    assert not run.premise(became("holds:ACTIVE", "holds:EXPIRED")).holds


def test_a_table_that_the_target_has_not_is_named(run: Run) -> None:
    premise = run.premise(became("tickets:ISSUED"))
    assert not premise.holds
    assert "tickets" in premise.measured
