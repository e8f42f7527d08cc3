"""The shortest violation there is, judged by everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.invariants import load

if TYPE_CHECKING:
    from pathlib import Path

    from tests.oracle.by_hand.run import Run


def oversold(run: Run) -> Path:
    """Sell one seat twice, and write the run folder."""
    run.given(invariants=tuple(load()))
    run.resource("r", capacity=1)
    for number, at in enumerate((10, 20), start=1):
        run.sold(f"h{number}", "r", sent=at, commit=at + 2, done=at + 3, count=1)
    return run.write()
