"""What must have occurred, and what must hold, before a judgement counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from checker.assumptions import (
    clocks_comparable,
    happened,
    names,
    release_skew,
    trail_complete,
)
from checker.brief import Assumption
from checker.trail.record import TrailStatus
from checker.verdict import Judgement

if TYPE_CHECKING:
    from tests.oracle.by_hand.run import Run


def one_sale(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)


@pytest.mark.parametrize(
    ("event", "holds"),
    [
        ("hold:ok", True),
        ("hold:fail", True),
        ("hold:fail:CAPACITY_EXHAUSTED", True),
        ("hold:fail:CLOSED", False),
        ("confirm:ok", False),
    ],
)
def test_happened_counts_outcomes_and_codes(run: Run, event: str, holds: bool) -> None:
    one_sale(run)
    run.refused("r", sent=4, done=5, key="k")
    assert run.premise(happened(event)).holds is holds


def test_happened_needs_all_of_its_events(run: Run) -> None:
    one_sale(run)
    premise = run.premise(happened("hold:ok", "hold:fail"))
    assert (premise.holds, premise.measured) == (False, "hold:ok 1×, hold:fail 0×")


@pytest.mark.parametrize(("most", "holds"), [(200, True), (199, False)])
def test_release_skew_is_the_spread_of_a_race_in_the_median(run: Run, most: float, holds: bool) -> None:
    for race, spread in enumerate((0.1, 0.2, 0.9)):
        run.refused("r", sent=10, done=15, key="a", race=race)
        run.refused("r", sent=10 + spread, done=15, key="b", race=race)
    assert run.premise(release_skew(us_p50_max=most)).holds is holds


def test_a_whole_trail_is_complete(run: Run) -> None:
    one_sale(run)
    premise = run.premise(trail_complete())
    assert (premise.holds, premise.measured) == (True, "1 transactions fold to the state of 4 tables")


def test_a_dropped_frame_convicts_nobody(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    cancel = run.commit(5, run.held("h1", "r", state="CANCELLED"), run.counted("r", 0))
    run.sold("h2", "r", sent=6, commit=7, done=8, count=1)
    assert run.violated() == set()
    run.lost_commits.add(cancel)
    verdict = run.verdict()
    oversold = next(finding for finding in verdict.findings if finding.invariant == "never_oversold")
    assert (verdict.judgement, oversold.judgement, oversold.count) == (
        Judgement.UNKNOWN,
        Judgement.UNKNOWN,
        1,
    )
    assert "holds h1: state" in (oversold.reason or "")
    assert "its 1 counter-examples prove nothing" in (oversold.reason or "")


def test_a_trail_that_was_not_drained_is_not_complete(run: Run) -> None:
    one_sale(run)
    run.trail = TrailStatus.OPEN
    assert run.premise(trail_complete()).measured == "the trail is open"


def test_a_row_at_rest_that_no_trail_tells_of_makes_it_incomplete(run: Run) -> None:
    one_sale(run)
    run.state_edits.append(
        lambda rows: rows.update({("resources", "r"): rows["resources", "r"] | {"capacity": "2"}})
    )
    premise = run.premise(trail_complete())
    assert (premise.holds, premise.measured) == (False, "they differ: resources r: capacity")


def test_a_stepped_clock_convicts_nobody(run: Run) -> None:
    run.resource("r", capacity=1)
    run.sold("h1", "r", sent=1, commit=2, done=3, count=1)
    # The database's clock jumps: what follows bears times from before the first sale.
    run.clocks.clear()
    for at, stepped in ((0, 0.0), (4.5, -3.0), (1_000, -3.0)):
        run.clock("postgres", at, stepped_ms=stepped)
        run.clock("load-0", at)
    run.commit(5, run.held("h1", "r", state="CANCELLED"), run.counted("r", 0))
    run.operation("cancel", "h1", sent=4, done=6, key="c")
    run.refused("r", sent=7, done=8, key="k")
    verdict = run.verdict()
    sold_out = next(finding for finding in verdict.findings if finding.invariant == "sold_out_is_true")
    assert sold_out.judgement is Judgement.UNKNOWN
    assert "clocks_comparable does not hold" in (sold_out.reason or "")
    assert {finding.judgement for finding in verdict.findings} == {Judgement.VALID, Judgement.UNKNOWN}


def test_steady_clocks_are_comparable(run: Run) -> None:
    premise = run.premise(clocks_comparable())
    assert (premise.holds, premise.measured) == (True, "at most 0.000 ms apart (postgres), 4 readings")


@pytest.mark.parametrize(("slack", "holds"), [(0.1, False), (1.0, True)])
def test_what_the_reading_itself_may_be_off_by_is_no_drift(run: Run, slack: float, holds: bool) -> None:
    run.clock("node-a", 500, stepped_ms=2, slack_ms=slack)
    assert run.premise(clocks_comparable()).holds is holds


@pytest.mark.parametrize(("first", "last", "holds"), [(0, 4, True), (0, 2.5, False), (1.5, 4, False)])
def test_clocks_say_nothing_of_a_load_that_was_there_before_or_after_them(
    run: Run, first: float, last: float, holds: bool
) -> None:
    one_sale(run)  # from 1 to 3
    run.clocks.clear()
    for at in (first, last):
        run.clock("postgres", at)
    assert run.premise(clocks_comparable()).holds is holds


def test_a_node_whose_clock_is_elsewhere_is_named(run: Run) -> None:
    run.clock("node-a", 500, stepped_ms=60_000)
    assert "(node-a)" in run.premise(clocks_comparable()).measured


def test_a_database_clock_that_was_never_read_compares_with_nothing(run: Run) -> None:
    run.clocks = [clock for clock in run.clocks if clock["process"] != "postgres"]
    assert run.premise(clocks_comparable()).measured == "the database's clock was read 0 times"


def test_an_assumption_that_nobody_knows_does_not_hold(run: Run) -> None:
    premise = run.premise(Assumption(name="moon_is_full", kind="vacuity"))
    assert not premise.holds


def test_an_assumption_with_a_limit_that_is_no_number_does_not_hold(run: Run) -> None:
    run.operation("hold", "r", sent=1, done=5, key="k")
    premise = run.premise(Assumption(name="release_skew", kind="vacuity", parameters={"us_p50_max": "fast"}))
    assert (premise.holds, premise.measured) == (
        False,
        "ValueError: could not convert string to float: 'fast'",
    )


def test_every_assumption_is_registered_under_the_name_of_its_constructor() -> None:
    assert names("evidence") == (
        "clocks_comparable",
        "history_complete",
        "processors_free",
        "states_known",
        "trail_complete",
    )
    assert names("vacuity") == (
        "admitted_by",
        "became",
        "claimed_beside",
        "committed_unknown",
        "contended",
        "contended_by_resource",
        "happened",
        "in_flight_together",
        "landed",
        "led",
        "load_healthy",
        "release_skew",
        "taken_over",
    )
