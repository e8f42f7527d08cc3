"""The verdict in a terminal is short, in colour only where that is wanted, and in plain lines elsewhere."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from rich.console import Console

from checker.verdict import Judgement, WitnessLine
from reports.terminal import WITNESS_LINES_MAX, Outcome, print_closing, print_verdict, wrapped

if TYPE_CHECKING:
    from collections.abc import Callable

    from checker.verdict import Verdict

FOLDER = Path("runs/last_seat_race/2026-05-04T12-30-00Z")


def _printed(verdict: Verdict, *, terminal: bool = False, encoding: str = "utf-8") -> str:
    raw = io.BytesIO()
    console = Console(file=io.TextIOWrapper(raw, encoding=encoding), force_terminal=terminal, width=60)
    print_verdict(verdict, FOLDER, console)
    console.file.flush()
    return raw.getvalue().decode(encoding)


def test_a_valid_run_takes_a_few_lines_and_names_its_report(make_verdict: Callable[..., Verdict]) -> None:
    lines = _printed(make_verdict(FOLDER)).splitlines()
    assert lines[0] == "✓ last_seat_race: Every invariant held"
    assert lines[-1].endswith("/report.html")
    assert len(lines) == 4


def test_a_violation_is_told_with_witness_and_replay(make_verdict: Callable[..., Verdict]) -> None:
    text = _printed(make_verdict(FOLDER, Judgement.INVALID))
    assert "never_oversold violated" in text
    assert "1,053.90 ms  PostgreSQL  commits hold 8001: 1 of 1 taken" in text
    assert "again:   lastseat run last_seat_race --seed 7" in text


def test_a_long_witness_is_told_in_a_dozen_lines_by_its_beginning_and_end(
    make_verdict: Callable[..., Verdict],
) -> None:
    verdict = make_verdict(FOLDER, Judgement.INVALID)
    moments = tuple(WitnessLine(at_ms=float(at), who="buyer", what=f"moment {at}") for at in range(100))
    verdict = msgspec.structs.replace(
        verdict, findings=(msgspec.structs.replace(verdict.findings[1], witness=moments),)
    )
    told = _printed(verdict).split("\n\n")[1].splitlines()[3:]
    assert len(told) == WITNESS_LINES_MAX
    assert told[0].endswith("moment 0")
    assert told[-1].endswith("moment 99")
    assert any("89 moments more in the report" in line for line in told)


def test_a_fault_that_was_in_force_stands_where_it_began_in_a_colour_of_its_own(
    make_verdict: Callable[..., Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    verdict = make_verdict(FOLDER, Judgement.INVALID)
    outage = WitnessLine(
        at_ms=500.0,
        who="fault",
        what="redis cut, from +0.50 s to +1.70 s",
        fault="redis cut",
        until_ms=1700.0,
    )
    finding = msgspec.structs.replace(verdict.findings[1], witness=(outage, *verdict.findings[1].witness))
    verdict = msgspec.structs.replace(verdict, findings=(finding,))
    assert "      500.00 ms  fault  redis cut, from +0.50 s to +1.70 s" in _printed(verdict)
    coloured = [line for line in _printed(verdict, terminal=True).splitlines() if "\x1b[33m" in line]
    assert len(coloured) == 1
    assert "redis cut, from" in coloured[0]


def test_a_pipe_gets_whole_lines_and_no_colour(make_verdict: Callable[..., Verdict]) -> None:
    text = _printed(make_verdict(FOLDER, Judgement.INVALID, story="x"))
    assert "\x1b" not in text
    assert any(len(line) > 60 for line in text.splitlines())


def test_a_terminal_gets_sentences_that_are_wrapped_under_their_beginning_and_a_path_that_is_whole(
    make_verdict: Callable[..., Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    reason = "the buyers of a race did not overlap, since each of them came when the one before was gone"
    lines = _printed(make_verdict(FOLDER, reasons=(reason,)), terminal=True).splitlines()
    place = next(place for place, line in enumerate(lines) if line.startswith("  · the buyers"))
    assert lines[place + 1].startswith("    ")
    assert " ".join(line.strip(" ·") for line in lines[place : place + 2]) == reason
    assert all(line.startswith((" ", "✓")) for line in lines if line)
    assert lines[-1] == f"  report:  {FOLDER / 'report.html'}"


def test_a_path_is_never_parted(make_verdict: Callable[..., Verdict]) -> None:
    raw = io.StringIO()
    folder = Path("/a/place") / ("long" * 20)
    print_verdict(make_verdict(folder), folder, Console(file=raw, force_terminal=True, width=60))
    assert f"  report:  {folder / 'report.html'}" in raw.getvalue().splitlines()


def test_the_further_lines_of_a_witness_stand_below_what_happened() -> None:
    assert wrapped("      1,053.90 ms  PostgreSQL  commits hold 8001", 40) == [
        "      1,053.90 ms  PostgreSQL  commits",
        "                   hold 8001",
    ]


def test_a_terminal_gets_colour_unless_no_color_is_set(
    make_verdict: Callable[..., Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1;31m" in _printed(make_verdict(FOLDER, Judgement.INVALID), terminal=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "31m" not in _printed(make_verdict(FOLDER, Judgement.INVALID), terminal=True)


def test_names_can_neither_command_the_terminal_nor_style_the_text(
    make_verdict: Callable[..., Verdict],
) -> None:
    verdict = make_verdict(FOLDER, reasons=("\x1b]0;owned\x07 [bold]loud[/bold] [/nonsense]",))
    text = _printed(verdict)
    assert "\x1b" not in text
    assert "[bold]loud[/bold] [/nonsense]" in text


def test_an_ascii_terminal_is_spoken_to_in_ascii(make_verdict: Callable[..., Verdict]) -> None:
    assert _printed(make_verdict(FOLDER), encoding="ascii").startswith("+ last_seat_race")


@pytest.mark.parametrize("terminal", [False, True])
def test_the_closing_table_has_a_line_for_each_run(
    make_verdict: Callable[..., Verdict], terminal: bool
) -> None:
    file = io.StringIO()
    outcomes = [
        Outcome(verdict=make_verdict(FOLDER), seconds=4.21),
        Outcome(verdict=make_verdict(FOLDER, Judgement.INVALID), seconds=5.0),
    ]
    print_closing(outcomes, Console(file=file, force_terminal=terminal, no_color=True, width=100))
    lines = [line for line in file.getvalue().splitlines() if "last_seat_race" in line]
    assert ["held" in lines[0], "violated" in lines[1]] == [True, True]
    assert "4.2" in lines[0]
    assert "oversell-read-write" in lines[1]
