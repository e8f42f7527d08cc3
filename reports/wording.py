"""How a verdict is put into words, the same on the page, in a pull request and in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.verdict import Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checker.verdict import Figure, Finding, Verdict

SYMBOL = {Judgement.VALID: "✓", Judgement.INVALID: "✗", Judgement.UNKNOWN: "?"}
WORD = {Judgement.VALID: "held", Judgement.INVALID: "violated", Judgement.UNKNOWN: "inconclusive"}
KEPT = {Judgement.VALID: "kept", Judgement.INVALID: "not kept", Judgement.UNKNOWN: "cannot be told"}
NOT_JUDGED = "reported, not judged"
OUTCOME_WORDS = {"ok": "ok", "fail": "refused", "info": "unknown"}
_WORST_FIRST = (Judgement.INVALID, Judgement.UNKNOWN, Judgement.VALID)


def headline(verdict: Verdict) -> str:
    """Return the verdict as one short sentence without its full stop."""
    if verdict.judgement is Judgement.VALID:
        return "Every invariant held"
    if verdict.judgement is Judgement.UNKNOWN:
        return "Inconclusive: nothing was violated, nothing is proven"
    violated = [finding.invariant for finding in verdict.findings if finding.judgement is Judgement.INVALID]
    if len(violated) == 1:
        return f"{violated[0]} was violated"
    if violated:
        return f"{counted(len(violated), 'invariant')} were violated"
    missed = [figure.name for figure in broken(verdict)]
    return (
        f"{' and '.join(missed[:2])} {'was' if len(missed) == 1 else 'were'} not kept"
        if missed
        else "Violated"
    )


def broken(verdict: Verdict) -> list[Figure]:
    """Return the judged thresholds that are not kept."""
    return [each for each in verdict.figures if each.judged and each.judgement is Judgement.INVALID]


def threshold(figure: Figure, *, why: bool = True) -> str:
    """Return in a line what was measured against a threshold, and why it cannot be told where it cannot."""
    told = f"{figure.name}: {figure.measured}; required {figure.required}"
    # Where nothing could be measured the reason says only that again.
    return f"{told} ({figure.reason})" if why and figure.reason not in (None, figure.measured) else told


def tally(verdict: Verdict) -> str:
    """Return one sentence that says how many invariants came out how, and over how much."""
    judged = {
        judgement: sum(finding.judgement is judgement for finding in verdict.findings)
        for judgement in _WORST_FIRST
    }
    parts = [f"{judged[Judgement.VALID]} held"]
    if judged[Judgement.INVALID]:
        parts.append(f"{judged[Judgement.INVALID]} violated")
    if judged[Judgement.UNKNOWN]:
        parts.append(f"{judged[Judgement.UNKNOWN]} could not be judged")
    over = (
        f"{counted(verdict.operations, 'operation')} and {counted(verdict.changes, 'committed row change')}"
    )
    return f"{counted(len(verdict.findings), 'invariant')} over {over}: {', '.join(parts)}."


def worst_first(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings with violations first, then the unknown, each in their own order."""
    return sorted(findings, key=lambda finding: _WORST_FIRST.index(finding.judgement))


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural where it takes one: 1 race, 2,000 races."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def milliseconds(value_ms: float | None) -> str:
    """Return milliseconds with three figures worth reading, or a dash for none."""
    if value_ms is None or value_ms != value_ms:  # noqa: PLR0124 - a NaN, without importing anything for it
        return "–"
    size = abs(value_ms)
    for limit, places in ((10, 2), (100, 1)):
        if size < limit:
            return f"{value_ms:.{places}f}"
    return f"{value_ms:,.0f}"
