"""A witness on the page, in a pull request and in JUnit: every line, and the faults among them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
import pytest

import reports
from checker.verdict import Judgement, WitnessLine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from checker.verdict import Verdict

OUTAGE = WitnessLine(
    at_ms=500.0,
    who="fault",
    what="redis <cut>, from +0.50 s to +1.70 s",
    fault="redis <cut>",
    until_ms=1_700.0,
)


@pytest.fixture
def folder(make_run: Callable[..., Path], make_verdict: Callable[..., Verdict]) -> Path:
    """The reports of a violated run in which Redis was cut."""
    folder = make_run(oversold=True)
    verdict = make_verdict(folder, Judgement.INVALID)
    finding = msgspec.structs.replace(verdict.findings[1], witness=(OUTAGE, *verdict.findings[1].witness))
    reports.write(folder, msgspec.structs.replace(verdict, findings=(finding,)))
    return folder


def test_a_fault_among_the_lines_is_marked_as_one(folder: Path) -> None:
    marked = re.findall(r'<li class="fault">.*?</li>', (folder / "report.html").read_text(), re.DOTALL)
    assert len(marked) == 1
    assert "redis &lt;cut&gt;, from +0.50 s to +1.70 s" in marked[0]
    assert "500.00 ms" in marked[0]


@pytest.mark.parametrize("name", ["summary.md", "junit.xml"])
def test_a_fault_is_told_wherever_the_witness_is(folder: Path, name: str) -> None:
    text = (folder / name).read_text()
    assert text.index("from +0.50 s to +1.70 s") < text.index("sends hold for the last seat")
