"""Oracle cases of never_oversold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.verdict import Judgement

if TYPE_CHECKING:
    from conftest import Run


def test_one_buyer_for_one_seat_is_valid(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    finding = run.finding("never_oversold")
    assert (finding.judgement, finding.reason, finding.looked_at, finding.count) == (
        Judgement.VALID,
        None,
        1,
        0,
    )
