"""summary.md, for a pull request or $GITHUB_STEP_SUMMARY."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from checker.verdict import Judgement
from reports.added import MEASURES, added
from reports.latency import EVERY, NAMES
from reports.printable import one_line, shorten
from reports.wording import (
    KEPT,
    NOT_JUDGED,
    SYMBOL,
    WORD,
    counted,
    headline,
    milliseconds,
    tally,
    worst_first,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from checker.verdict import Finding, Verdict
    from reports.latency import Tables
    from reports.recovery import Score

WITNESSES_MAX = 5
CELL_CHARACTERS_MAX = 300
# Every ASCII character that Markdown lets a backslash disarm, except those that only make plain text ugly.
_ACTIVE = re.compile(r"([\\`*_{}\[\]|~#!$])")


def render(verdict: Verdict, tables: Tables, scores: Sequence[Score] = ()) -> str:
    """Return the run as GitHub-flavoured Markdown."""
    return (
        "\n".join(
            [
                *_head(verdict),
                *_invariants(verdict),
                *_thresholds(verdict),
                *_latency(tables),
                *_faults(tables, scores),
                *_again(verdict),
            ]
        )
        + "\n"
    )


def escape(text: str) -> str:
    """Return `text` as one line that Markdown shows as it is: no markup, no HTML, no mention, no link."""
    text = shorten(one_line(text), CELL_CHARACTERS_MAX)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    # An empty comment keeps GitHub from calling a person, and from linking an address.
    text = _ACTIVE.sub(r"\\\1", text).replace("@", "@<!-- -->").replace("://", ":<!-- -->//")
    return text.replace("www.", "www<!-- -->.")


def _head(verdict: Verdict) -> Iterator[str]:
    yield f"## {SYMBOL[verdict.judgement]} {escape(verdict.scenario)}: {escape(headline(verdict))}"
    yield ""
    yield f"> {escape(verdict.story)}"
    yield ""
    yield escape(tally(verdict))
    if verdict.mutant:
        yield f"This service had the bug **{escape(verdict.mutant)}** planted on purpose."
    yield ""
    for reason in verdict.reasons:
        yield f"- {escape(reason)}"
    for premise in verdict.missed:
        yield (
            f"- Assumption **{escape(premise.name)}** does not hold: required {escape(premise.required)}, "
            f"measured {escape(premise.measured)}."
        )
    yield ""


def _invariants(verdict: Verdict) -> Iterator[str]:
    findings = worst_first(verdict.findings)
    told = [finding for finding in findings if finding.judgement is not Judgement.VALID]
    held = [finding for finding in findings if finding.judgement is Judgement.VALID]
    if told:
        yield from _table(told)
    for finding in [finding for finding in told if finding.witness][:WITNESSES_MAX]:
        yield f"**{escape(finding.invariant)}**, how it came about:"
        yield ""
        yield "| ms after t₀ | who | what |"
        yield "|---:|---|---|"
        for line in finding.witness:
            at = "at rest" if line.at_ms is None else f"{line.at_ms:,.2f}"
            yield f"| {at} | {escape(line.who)} | {escape(line.what)} |"
        yield ""
    if held:
        yield f"<details><summary>{counted(len(held), 'invariant')} held</summary>"
        yield ""
        yield from _table(held)
        yield "</details>"
        yield ""


def _table(findings: list[Finding]) -> Iterator[str]:
    yield "| | invariant | sentence | counter-examples | looked at |"
    yield "|---|---|---|---:|---:|"
    for finding in findings:
        sentence = escape(finding.sentence)
        if finding.reason:
            sentence += f" <br>{escape(finding.reason)}"
        yield (
            f"| {SYMBOL[finding.judgement]} {WORD[finding.judgement]} | {escape(finding.invariant)} | {sentence} "
            f"| {finding.count:,} | {finding.looked_at:,} |"
        )
    yield ""


def _thresholds(verdict: Verdict) -> Iterator[str]:
    if not verdict.figures:
        return
    judged = "" if verdict.figures[0].judged else f", {NOT_JUDGED}"
    yield f"| | threshold{judged} | required | measured |"
    yield "|---|---|---|---|"
    for figure in verdict.figures:
        told = figure.reason if figure.reason not in (None, figure.measured) else ""
        measured = escape(figure.measured) + (f" <br>{escape(told)}" if told else "")
        mark = f"{SYMBOL[figure.judgement]} {KEPT[figure.judgement]}"
        yield f"| {mark} | {escape(figure.name)} | {escape(figure.required)} | {measured} |"
    yield ""


def _latency(tables: Tables) -> Iterator[str]:
    rows = [row for row in tables.whole if row.outcome == EVERY]
    if not rows:
        return
    yield "| response time, ms | count | unanswered | " + " | ".join(NAMES) + " |"
    yield "|---" + "|---:" * (2 + len(NAMES)) + "|"
    for row in rows:
        figures = " | ".join(milliseconds(value) for value in row.spread.response_ms)
        yield f"| {escape(row.operation)} | {row.count:,} | {row.unanswered:,} | {figures} |"
    yield ""


def _faults(tables: Tables, scores: Sequence[Score]) -> Iterator[str]:
    """Say what each fault added to the latency, and when Redis was asked again."""
    if rows := added(tables):
        yield f"| added to {escape(rows[0].operation)} by a fault, ms | before | during | after |"
        yield "|---|---:|---:|---:|"
        for row in rows:
            during = f"{milliseconds(row.during_ms)}{_on_top(row.during_added_ms)}"
            after = f"{milliseconds(row.after_ms)}{_on_top(row.after_added_ms)}"
            what = f"{escape(row.fault)}: {MEASURES[row.measure]}, {row.quantile}"
            yield f"| {what} | {milliseconds(row.before_ms)} | {during} | {after} |"
        yield ""
    for score in scores:
        if score.of_redis:
            again = "never" if score.redis_ms is None else f"{milliseconds(score.redis_ms)} ms after healing"
            yield f"- `Admission: redis` again after {escape(score.fault.name)}, at the slowest node: {again}"
    if any(score.of_redis for score in scores):
        yield ""


def _on_top(added_ms: float | None) -> str:
    return "" if added_ms is None else f" ({added_ms:+,.2f})"


def _again(verdict: Verdict) -> Iterator[str]:
    command = one_line(verdict.command)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", command)), default=2))
    fence = max(fence, "```", key=len)
    yield "Again:"
    yield ""
    yield fence + "sh"
    yield command
    yield fence
