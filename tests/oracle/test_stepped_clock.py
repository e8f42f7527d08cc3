"""A database's clock that is moved convicts no healthy service, whatever rule compares its readings with a deadline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.assumptions import clocks_comparable
from checker.verdict import Judgement
from tests.oracle.by_hand import story
from tests.oracle.by_hand.instants import MS, T0_NS, printed_at

if TYPE_CHECKING:
    from tests.oracle.by_hand.plane import Plane

HOUR_MS = 3_600_000


def stepped(plane: Plane, at: float, by_ms: float) -> None:
    """Let the database's clock be moved between what it was read for and the commit that comes next, and stay so."""
    for commit in plane.commits:
        if commit["at"] > at:
            commit["at"] += by_ms
    if plane.rest_at > at:
        plane.rest_at += by_ms
    for reading in plane.clocks:
        if reading["process"] == "postgres" and reading["mono_ns"] > T0_NS + at * MS:
            reading["real_ns"] += round(by_ms * MS)


@pytest.mark.parametrize(
    ("at", "by_ms"),
    [
        pytest.param(35.5, -10, id="back, as a delivery is claimed again"),
        pytest.param(60.5, -40, id="back, as a lease changes hands"),
        pytest.param(61.5, -10, id="back, as a hold is swept"),
        pytest.param(61.5, -HOUR_MS, id="far back, as a hold is swept"),
        pytest.param(20, HOUR_MS, id="far ahead, before the line forms"),
        pytest.param(1_950, HOUR_MS, id="far ahead, before the state is read"),
        pytest.param(1_950, -HOUR_MS, id="far back, before the state is read"),
    ],
)
def test_a_clock_that_is_moved_convicts_nobody_and_is_seen(plane: Plane, at: float, by_ms: float) -> None:
    story.tell(plane)
    plane.rows["holds", "h4"]["expires_at"] = printed_at(3_000)  # it still lives when the state is read
    # A key that nobody has answered yet when the state is read: the claim on it runs for a minute and a half.
    record, _ = plane.recorded("left")
    plane.commit(1_940, plane.told_of(record, lease=printed_at(1_940 + 90_000)))
    stepped(plane, at, by_ms)
    assert plane.violated() == set()
    assert not plane.premise(clocks_comparable()).holds


def test_what_needs_no_clock_is_violated_all_the_same(plane: Plane) -> None:
    story.tell(plane)
    plane.commit(1_500, plane.entry("e2", state="OFFERED"))
    stepped(plane, 61.5, -10)
    assert plane.judged("nothing_left_behind") is Judgement.INVALID
