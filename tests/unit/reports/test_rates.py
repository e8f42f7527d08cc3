"""A race is a rate: how often each finding came back."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import msgspec
import pytest
from rich.console import Console

from checker.verdict import Judgement
from reports.rates import print_rates, told

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.verdict import Verdict


def named(verdict: Verdict, name: str, judgement: Judgement) -> Verdict:
    """The verdict with one finding."""
    finding = msgspec.structs.replace(verdict.findings[0], invariant=name, judgement=judgement)
    held = tuple(msgspec.structs.replace(premise, holds=True) for premise in verdict.premises)
    return msgspec.structs.replace(verdict, findings=(finding,), premises=held, judgement=judgement)


@pytest.fixture
def judged(make_verdict: Callable[..., Verdict], make_run: Callable[..., Path]) -> Verdict:
    return make_verdict(make_run())


def test_each_finding_is_counted_over_the_runs(judged: Verdict) -> None:
    held = named(judged, "never_oversold", Judgement.VALID)
    oversold = named(judged, "never_oversold", Judgement.INVALID)
    late = named(judged, "no_gap_in_handover", Judgement.INVALID)
    assert list(told("rush", [held, oversold, oversold, late], 1)) == [
        "rush: 5 runs, 1 held, 3 violated, 0 inconclusive, 1 could not be played",
        "  never_oversold came back in 2 of 4",
        "  no_gap_in_handover came back in 1 of 4",
    ]


def test_what_could_not_be_judged_is_told_with_the_assumption_that_was_missed(
    judged: Verdict,
) -> None:
    undecided = named(judged, "never_oversold", Judgement.UNKNOWN)
    tired = msgspec.structs.replace(
        undecided,
        premises=(msgspec.structs.replace(undecided.premises[0], name="load_healthy", holds=False),),
    )
    assert list(told("rush", [undecided, tired], 0)) == [
        "rush: 2 runs, 0 held, 0 violated, 2 inconclusive",
        "  never_oversold could not be judged in 1 of 2",
        "  assumption load_healthy did not hold in 1 of 2",
    ]


def test_a_scenario_of_which_no_run_came_to_its_end_is_told_too() -> None:
    out = io.StringIO()
    print_rates({}, {"rush": 3}, Console(file=out))
    assert out.getvalue() == "rush: 3 runs, 0 held, 0 violated, 0 inconclusive, 3 could not be played\n"
