"""The verdict in a terminal, or as plain lines where there is none; colour is Rich's to decide (NO_COLOR)."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from checker.verdict import Judgement
from reports.printable import clean, one_line, shorten
from reports.wording import NOT_JUDGED, SYMBOL, WORD, counted, headline, tally, threshold, worst_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.console import Console

    from checker.verdict import Finding, Verdict

WITNESS_LINES_MAX = 12
FINDINGS_MAX = 5
NAMES_MAX = 3
_MARK = re.compile(r"\s*(?:[^\w\s\"'(] |[\d,.]+ ms  |at rest  )")
"""What the further parts of a wrapped line stand to the right of: a sign, or the moment of a witness."""
_FAULT = "yellow"
_STYLE = {Judgement.VALID: "green", Judgement.INVALID: "bold red", Judgement.UNKNOWN: "yellow"}
_ASCII = {
    "✓": "+",
    "✗": "x",
    "…": "~",
    "–": "-",
    "₀": "0",
    "→": "->",
    "·": "-",
    "×": "x",
    "−": "-",
    "≤": "<=",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One finished run, for the closing table; `seconds` from its start to its verdict."""

    verdict: Verdict
    seconds: float


def summary(verdict: Verdict) -> str:
    """Return a run's verdict in a line."""
    return f"{SYMBOL[verdict.judgement]} {verdict.scenario}: {headline(verdict)}"


def print_verdict(verdict: Verdict, folder: Path, console: Console) -> None:
    """Print one run's verdict, each violation with its witness, the command that replays it, and the report."""
    _say(console, summary(verdict), style=_STYLE[verdict.judgement])
    _say(console, f"  {tally(verdict)}")
    for reason in verdict.reasons:
        _say(console, f"  · {reason}")
    for line, line_style in _thresholds(verdict):
        _say(console, line, style=line_style)
    violated = [
        finding for finding in worst_first(verdict.findings) if finding.judgement is Judgement.INVALID
    ]
    for finding in violated[:FINDINGS_MAX]:
        _say(console, "")
        for line, line_style in _witness(finding):
            _say(console, line, style=line_style)
    if len(violated) > FINDINGS_MAX:
        _say(console, f"  … and {counted(len(violated) - FINDINGS_MAX, 'more finding')} in the report.")
    for line in _not_judged(verdict.findings):
        _say(console, line, style=_STYLE[Judgement.UNKNOWN])
    _say(console, "")
    if verdict.judgement is not Judgement.VALID:
        _say(console, f"  again:   {verdict.command}", whole=True)
    _say(console, f"  report:  {folder / 'report.html'}", whole=True)


def _thresholds(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """Yield what was measured against each threshold, in the colour of a verdict only where it counts for one."""
    for place, figure in enumerate(verdict.figures):
        if place == 0:
            yield f"  thresholds, {'judged' if figure.judged else NOT_JUDGED}:", ""
        style = _STYLE[figure.judgement] if figure.judged else "dim"
        # Why a judged one cannot be told stands among the verdict's reasons, just above.
        yield f"    {SYMBOL[figure.judgement]} {threshold(figure, why=not figure.judged)}", style


def _not_judged(findings: Sequence[Finding]) -> list[str]:
    """Return a line for each reason why invariants could not be judged: a missed assumption concerns many alike."""
    alike: dict[str, list[str]] = {}
    for finding in findings:
        if finding.judgement is Judgement.UNKNOWN:
            alike.setdefault(finding.reason or "for no reason given", []).append(finding.invariant)
    lines = []
    for reason, names in alike.items():
        more = f" and {len(names) - NAMES_MAX} more" if len(names) > NAMES_MAX else ""
        lines.append(f"  {', '.join(names[:NAMES_MAX])}{more}: {reason}")
    return ["", *lines] if lines else []


def print_closing(outcomes: Sequence[Outcome], console: Console) -> None:
    """Print the table of scenario × verdict × operations × time: aligned on a terminal, else a line a run."""
    if not console.is_terminal:
        for outcome in outcomes:
            verdict = outcome.verdict
            mutant = f" mutant={verdict.mutant}" if verdict.mutant else ""
            _say(
                console,
                f"{WORD[verdict.judgement]} {verdict.scenario}{mutant} seed={verdict.seed} "
                f"operations={verdict.operations} seconds={outcome.seconds:.1f}",
            )
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in ("scenario", "verdict"):
        table.add_column(name)
    for name in ("operations", "seconds"):
        table.add_column(name, justify="right")
    for outcome in outcomes:
        verdict = outcome.verdict
        told = f"{SYMBOL[verdict.judgement]} {WORD[verdict.judgement]}"
        scenario = f"{verdict.scenario} [{verdict.mutant}]" if verdict.mutant else verdict.scenario
        table.add_row(
            _text(console, scenario),
            _text(console, told, _STYLE[verdict.judgement]),
            f"{verdict.operations:,}",
            f"{outcome.seconds:.1f}",
        )
    console.print(table)


def _witness(finding: Finding) -> list[tuple[str, str]]:
    """Return a finding in styled lines: its sentence, then its witness in at most a dozen."""
    style = _STYLE[finding.judgement]
    amount = f"{counted(finding.count, 'counter-example')} among {finding.looked_at:,}"
    lines = [
        (f"  {finding.invariant} {WORD[finding.judgement]}", style),
        (f"    {finding.sentence}", ""),
        (f"    {finding.reason or amount}", "dim"),
    ]
    moments = []
    for moment in finding.witness:
        at = "at rest" if moment.at_ms is None else f"{moment.at_ms:,.2f} ms"
        told = f"    {at:>12}  {one_line(moment.who)}  {one_line(moment.what)}"
        moments.append((told, _FAULT if moment.fault else ""))
    if len(moments) > WITNESS_LINES_MAX:
        # How it began and how it ended tell more than the middle.
        room = WITNESS_LINES_MAX
        left_out = len(moments) - room + 1
        moments = [
            *moments[: room // 2],
            (f"    {'…':>12}  {counted(left_out, 'moment')} more in the report", "dim"),
            *moments[len(moments) - (room - room // 2 - 1) :],
        ]
    return lines + moments


def _say(console: Console, line: str, style: str = "", *, whole: bool = False) -> None:
    """Print one line, with no markup and nothing that a terminal would obey.

    On a terminal it is wrapped at words, under its own beginning; on a pipe, or where it is a path or a command to be
    copied, it stays `whole`.
    """
    text = _text(console, line, style)
    if whole or not console.is_terminal:
        console.print(text, soft_wrap=True, highlight=False)
        return
    for part in wrapped(text.plain, console.width):
        console.print(Text(part, style=style), soft_wrap=True, highlight=False)


def wrapped(line: str, width: int) -> list[str]:
    """Return a line in parts that fit, the further ones below what its mark or its moment is followed by."""
    lead = len(line) - len(line.lstrip())
    mark = _MARK.match(line)
    hang = mark.end() if mark else lead + 2
    parts = textwrap.wrap(
        line, width, subsequent_indent=" " * hang, break_long_words=False, break_on_hyphens=False
    )
    return parts or [""]


def _text(console: Console, line: str, style: str = "") -> Text:
    line = clean(line).replace("\n", " ").replace("\t", " ")
    if not console.encoding.lower().startswith("utf"):
        line = "".join(_ASCII.get(letter, letter) for letter in line)
        line = line.encode(console.encoding, "replace").decode(console.encoding)
    return Text(shorten(line, 2_000), style=style)
