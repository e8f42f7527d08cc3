"""Thresholds are told wherever a verdict is, and it is plain whether they are judged."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import msgspec
import pytest
from rich.console import Console

import reports
from checker.verdict import Figure, Judgement
from reports import junit
from reports.github import annotate
from reports.rates import told
from reports.terminal import print_verdict
from reports.wording import headline, threshold

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.verdict import Verdict

KEPT = Figure(
    name="p99 of hold",
    operation="hold",
    judgement=Judgement.VALID,
    judged=True,
    looked_at=600,
    measured_seconds=0.02,
    required="below 50 ms",
    measured="20 ms over 600 operations",
)
SLOW = msgspec.structs.replace(
    KEPT, judgement=Judgement.INVALID, measured_seconds=0.09, measured="90 ms over 600 operations"
)
UNTOLD = msgspec.structs.replace(
    SLOW,
    name="recovers of hold",
    judgement=Judgement.UNKNOWN,
    reason="it is not kept, but the load was tired <late>",
)


def reported(*figures: Figure) -> tuple[Figure, ...]:
    return tuple(msgspec.structs.replace(figure, judged=False) for figure in figures)


@pytest.fixture
def run(make_run: Callable[..., Path]) -> Path:
    return make_run()


@pytest.fixture
def make(run: Path, make_verdict: Callable[..., Verdict]) -> Callable[..., Verdict]:
    return lambda *figures, judgement=Judgement.VALID: msgspec.structs.replace(
        make_verdict(run), figures=figures, judgement=judgement
    )


def suite(verdict: Verdict) -> ET.Element:
    return ET.fromstring(junit.render(verdict, None, 1.0))[0]


def cases(verdict: Verdict) -> dict[str, tuple[str, str]]:
    """Each threshold's case: how it ended, and what was said."""
    found = {}
    for case in suite(verdict).iter("testcase"):
        if str(case.get("classname")).endswith(".thresholds"):
            (ended,) = list(case) or [ET.Element("passed")]
            found[str(case.get("name"))] = (ended.tag, ended.get("message", ""))
    return found


def test_junit_has_a_case_for_each_judged_threshold(make: Callable[..., Verdict]) -> None:
    verdict = make(SLOW, UNTOLD, msgspec.structs.replace(KEPT, name="p99 of cancel"))
    assert cases(verdict) == {
        "p99 of hold": (
            "failure",
            "Not kept. p99 of hold: 90 ms over 600 operations; required below 50 ms.",
        ),
        "recovers of hold": (
            "error",
            f"Cannot be told. {threshold(UNTOLD)}.",
        ),
        "p99 of cancel": ("passed", ""),
    }
    assert [suite(verdict).get(name) for name in ("tests", "failures", "errors", "skipped")] == [
        "7",
        "1",
        "1",
        "0",
    ]


def test_junit_skips_what_is_only_reported_and_says_what_was_measured(make: Callable[..., Verdict]) -> None:
    verdict = make(*reported(SLOW))
    assert cases(verdict) == {
        "p99 of hold": (
            "skipped",
            "Reported, not judged. Not kept. p99 of hold: 90 ms over 600 operations; required below 50 ms.",
        )
    }
    assert [suite(verdict).get(name) for name in ("failures", "errors", "skipped")] == ["0", "0", "1"]


def spoken(verdict: Verdict, folder: Path) -> str:
    out = io.StringIO()
    print_verdict(verdict, folder, Console(file=out, width=200))
    return out.getvalue()


def test_a_terminal_says_that_thresholds_are_only_reported(make: Callable[..., Verdict], run: Path) -> None:
    said = spoken(make(*reported(SLOW)), run)
    assert "  thresholds, reported, not judged:\n    ✗ p99 of hold: 90 ms over 600 operations" in said
    assert "✓ last_seat_race: Every invariant held" in said


def test_a_threshold_that_is_not_kept_makes_the_headline(make: Callable[..., Verdict], run: Path) -> None:
    verdict = make(SLOW, judgement=Judgement.INVALID)
    assert headline(verdict) == "p99 of hold was not kept"
    assert "  thresholds, judged:\n" in spoken(verdict, run)
    both = make(SLOW, msgspec.structs.replace(SLOW, name="p99 of cancel"), judgement=Judgement.INVALID)
    assert headline(both) == "p99 of hold and p99 of cancel were not kept"


@pytest.mark.parametrize("name", ["report.html", "summary.md"])
def test_the_report_and_the_summary_tell_them(make: Callable[..., Verdict], run: Path, name: str) -> None:
    reports.write(run, make(KEPT, UNTOLD))
    judged = (run / name).read_text()
    assert "20 ms over 600 operations" in judged
    assert "the load was tired &lt;late&gt;" in judged
    assert "not judged" not in judged.replace("Reported, not judged: how", "")
    reports.write(run, make(*reported(KEPT, UNTOLD)))
    assert "reported, not judged" in (run / name).read_text()


def test_a_story_without_thresholds_has_no_place_for_them(make: Callable[..., Verdict], run: Path) -> None:
    reports.write(run, make())
    assert "hreshold" not in (run / "summary.md").read_text()
    assert 'id="thresholds"' not in (run / "report.html").read_text()


def test_github_is_told_of_judged_thresholds_only(make: Callable[..., Verdict]) -> None:
    lines = annotate(make(SLOW, UNTOLD, judgement=Judgement.INVALID))
    assert [line.partition("::p99")[0].partition(" title=")[0] for line in lines] == ["::error", "::warning"]
    assert annotate(make(*reported(SLOW, UNTOLD))) == []


def test_repeats_count_how_often_a_threshold_was_not_kept(make: Callable[..., Verdict]) -> None:
    runs = [make(SLOW, judgement=Judgement.INVALID), make(KEPT), make(UNTOLD), make(*reported(SLOW, UNTOLD))]
    said = list(told("rush", runs, 0))
    assert "  p99 of hold was not kept in 1 of 4" in said
    assert "  recovers of hold cannot be told in 1 of 4" in said
