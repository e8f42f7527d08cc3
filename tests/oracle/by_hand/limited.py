"""A load that fared well, and what was measured of it against one threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from checker.assumptions import happened, load_healthy

if TYPE_CHECKING:
    from checker.brief import Threshold
    from checker.verdict import Figure
    from tests.oracle.by_hand.plane import Plane
    from tests.oracle.by_hand.run import Run


def rushed(plane: Plane) -> Plane:
    """A load that fared well, and one seat that was sold."""
    plane.resource("r", capacity=1)
    plane.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    plane.sample("load/0", "arrivals", 100)
    plane.sample("load/0", "dropped", 0)
    plane.sample("load/0", "lag_max_us", 5_000)
    plane.assume(load_healthy(lag_ms_p99_max=10), happened("hold:ok"))
    return plane


def asked(run: Run, many: int, *, took: float, at: float = 10, every: float = 1, **about: Any) -> None:
    """So many holds, one after the other."""
    for place in range(many):
        sent = at + place * every
        run.operation("hold", "r", sent=sent, done=sent + took, outcome="fail", key=f"k{at}-{place}", **about)


def figure(run: Run, threshold: Threshold, *, judged: bool = True) -> Figure:
    run.given(thresholds=(threshold,), judges_thresholds=judged, invariants=("never_oversold",))
    (measured,) = run.verdict().figures
    return measured
