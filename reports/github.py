"""GitHub workflow commands that put a verdict on the page of a workflow run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checker.verdict import Judgement
from reports.printable import one_line
from reports.wording import KEPT, counted, threshold

if TYPE_CHECKING:
    from checker.verdict import Verdict


def annotate(verdict: Verdict) -> list[str]:
    """Return one line for stdout per invariant that was violated (error) or could not be judged (warning), thresholds too.

    GitHub shows ten of each kind a step. An assumption whose miss decided something is a warning too; a valid run has none.
    """
    lines = []
    for finding in verdict.findings:
        title = f"{verdict.scenario}: {finding.invariant}"
        if finding.judgement is Judgement.INVALID:
            told = f"{finding.sentence} {counted(finding.count, 'counter-example')}. Again: {verdict.command}"
            lines.append(_command("error", f"{title} was violated", told))
        elif finding.judgement is Judgement.UNKNOWN:
            lines.append(
                _command("warning", f"{title} could not be judged", finding.reason or finding.sentence)
            )
    for figure in verdict.figures:
        if figure.judged and figure.judgement is not Judgement.VALID:
            kind = "error" if figure.judgement is Judgement.INVALID else "warning"
            title = f"{verdict.scenario}: {figure.name} {KEPT[figure.judgement]}"
            lines.append(_command(kind, title, f"{threshold(figure)}. Again: {verdict.command}"))
    for premise in verdict.missed:
        told = f"Required: {premise.required}. Measured: {premise.measured}."
        title = f"{verdict.scenario}: {premise.name} does not hold"
        lines.append(_command("warning", title, told))
    return lines


def _command(kind: str, title: str, message: str) -> str:
    """Spell one workflow command; its escapes are those of GitHub's toolkit (packages/core/src/command.ts)."""
    message = one_line(message).replace("%", "%25")
    title = one_line(title).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{kind} title={title}::{message}"
