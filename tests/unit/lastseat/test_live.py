"""Without a terminal a run speaks in plain lines, and does not flood a log."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from lastseat.live import Screen, progress
from scenarios.control import Tally

FULL = Tally(done=20_000, ok=2_000, fail=17_500, info=500, through=20_000)


def _spoken(*, terminal: bool) -> str:
    out = io.StringIO()
    with progress(Console(file=out, force_terminal=terminal, width=100)) as telling:
        telling.phase("the crowd comes")
        telling.faults(("cut:redis",))
        for done in range(1, 11):
            telling.load(Tally(done=done, ok=1, fail=done - 1, through=done // 2), arrivals=5)
        telling.notice("the stand-in is used")
        telling.phase("the verdict")
    return out.getvalue()


def test_a_pipe_gets_plain_lines_and_the_last_count() -> None:
    said = _spoken(terminal=False)
    assert "\x1b" not in said
    assert "the crowd comes …" in said
    counts = "10 operations · 1 ok · 9 refused · 0 unknown · 5 of 5 buyers expected are through"
    assert counts in said
    assert "cut:redis" in said
    assert "the stand-in is used" in said
    assert said.count("operations ·") <= 2, "at most one line a second, and the last"


def test_a_terminal_keeps_the_finished_phases() -> None:
    said = _spoken(terminal=True)
    assert "✓ the crowd comes" in said.replace("\x1b[32m", "").replace("\x1b[0m", "")
    assert "the stand-in is used" in said


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_line_of_a_terminal_wraps(width: int) -> None:
    out = io.StringIO()
    with progress(Console(file=out, force_terminal=True, width=width, color_system=None)) as telling:
        telling.phase("the crowd comes, and 12 faults")
        telling.faults(
            ("cut:redis@2s+2s", "blackhole:pg-a/upstream@1s+500ms", "latency:pg=100ms,jitter=20ms")
        )
        telling.load(FULL, arrivals=20_000)
        telling.detail(
            "still unsettled: 12 holds whose time is over, 3 notices that nobody has delivered, 1 lease"
        )
        telling.result(
            "12 of 24  ? boot_without_redis: Inconclusive: nothing was violated, nothing is proven"
        )
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", out.getvalue()).replace("\r", "\n").splitlines()
    assert max(len(line.rstrip()) for line in lines) <= width
    begun = ("✓", "?", "⠋", "━", "in force", "still", "12 of", "20,000")
    assert [line for line in lines if line.strip() and not any(word in line for word in begun)] == []


def test_at_eighty_columns_the_counts_are_told_whole() -> None:
    out = io.StringIO()
    with progress(Console(file=out, force_terminal=True, width=80, color_system=None)) as telling:
        telling.phase("the crowd comes, and 1 fault")
        telling.load(FULL, arrivals=20_000)
    said = "20,000 operations · 2,000 ok · 17,500 refused · 500 unknown"
    assert said in out.getvalue()


def test_the_bar_fills_with_the_buyers_not_with_what_each_of_them_does() -> None:
    out = io.StringIO()
    console = Console(file=out, width=80)
    shown: list[Any] = []
    live: Any = SimpleNamespace(update=shown.append)
    telling = Screen(console, live)
    telling.phase("the crowd comes")
    telling.load(Tally(done=100, ok=100, through=50), arrivals=100)
    console.print(shown[-1])
    assert out.getvalue().count("━") == 15, "half of its thirty"
