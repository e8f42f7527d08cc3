"""junit.xml: a suite for the run, a test case for each invariant, each assumption and each threshold.

What is unknown becomes an `error`, not `skipped`: every CI system shows skipped tests as harmless, and an invariant
that could not be judged must not look like one that held. `error` is JUnit's own word for a test that broke before
it could decide; Jenkins and GitLab show it in red, and reporters on GitHub count it apart from failures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET  # only ever writes here

from checker.verdict import Judgement
from reports.printable import clean, one_line
from reports.wording import KEPT, NOT_JUDGED, counted, headline, threshold

if TYPE_CHECKING:
    from datetime import datetime

    from checker.verdict import Figure, Finding, Premise, Verdict

COUNTER_EXAMPLES_MAX = 5


def render(verdict: Verdict, started: datetime | None, seconds: float) -> str:
    """Return the run as JUnit XML; the suite's time is that of the load, a test case has none of its own."""
    failures = sum(finding.judgement is Judgement.INVALID for finding in verdict.findings)
    errors = sum(finding.judgement is Judgement.UNKNOWN for finding in verdict.findings)
    errors += len(verdict.missed)
    judged = [figure for figure in verdict.figures if figure.judged]
    failures += sum(figure.judgement is Judgement.INVALID for figure in judged)
    errors += sum(figure.judgement is Judgement.UNKNOWN for figure in judged)
    counts = {
        "tests": str(len(verdict.findings) + len(verdict.premises) + len(verdict.figures)),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": str(len(verdict.figures) - len(judged)),
        "time": f"{seconds:.3f}",
    }
    root = ET.Element("testsuites", {"name": "lastseat", **counts})
    suite = ET.SubElement(root, "testsuite", {"name": f"lastseat.{one_line(verdict.scenario)}", **counts})
    if started is not None:
        suite.set("timestamp", started.strftime("%Y-%m-%dT%H:%M:%S"))
    properties = ET.SubElement(suite, "properties")
    for name in ("run", "judgement", "profile", "seed", "target", "command", "mutant"):
        value = getattr(verdict, name)
        if value is not None:
            ET.SubElement(properties, "property", name=name, value=one_line(str(value)))
    for finding in verdict.findings:
        _invariant(suite, verdict, finding)
    for premise in verdict.premises:
        _assumption(suite, verdict, premise)
    for figure in verdict.figures:
        _threshold(suite, verdict, figure)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _invariant(suite: ET.Element, verdict: Verdict, finding: Finding) -> None:
    case = _case(suite, verdict, "invariants", finding.invariant)
    if finding.judgement is Judgement.INVALID:
        message = (
            f"{finding.sentence} {counted(finding.count, 'counter-example')} among {finding.looked_at:,}."
        )
        failure = ET.SubElement(case, "failure", type="violated", message=one_line(message))
        failure.text = clean("\n".join(_told(verdict, finding)))
    elif finding.judgement is Judgement.UNKNOWN:
        message = finding.reason or "It could not be judged."
        ET.SubElement(case, "error", type="inconclusive", message=one_line(message)).text = clean(
            finding.sentence
        )


def _assumption(suite: ET.Element, verdict: Verdict, premise: Premise) -> None:
    case = _case(suite, verdict, "assumptions", premise.name)
    if premise in verdict.missed:
        message = f"Required: {premise.required}. Measured: {premise.measured}."
        ET.SubElement(case, "error", type=f"assumption of {premise.kind}", message=one_line(message))


def _threshold(suite: ET.Element, verdict: Verdict, figure: Figure) -> None:
    """Add a threshold; one that is only reported is skipped, with what was measured, whatever it was."""
    case = _case(suite, verdict, "thresholds", figure.name)
    message = one_line(f"{KEPT[figure.judgement].capitalize()}. {threshold(figure)}.")
    if not figure.judged:
        ET.SubElement(case, "skipped", message=f"{NOT_JUDGED.capitalize()}. {message}")
    elif figure.judgement is Judgement.INVALID:
        ET.SubElement(case, "failure", type="not kept", message=message)
    elif figure.judgement is Judgement.UNKNOWN:
        ET.SubElement(case, "error", type="inconclusive", message=message)


def _case(suite: ET.Element, verdict: Verdict, of: str, name: str) -> ET.Element:
    classname = f"lastseat.{one_line(verdict.scenario)}.{of}"
    return ET.SubElement(suite, "testcase", classname=classname, name=one_line(name), time="0")


def _told(verdict: Verdict, finding: Finding) -> list[str]:
    """Return a violation as lines: sentence, witness, the first counter-examples, how to see it again."""
    lines = [f"{headline(verdict)} in {verdict.scenario}, seed {verdict.seed}.", finding.sentence, ""]
    for moment in finding.witness:
        at = "at rest" if moment.at_ms is None else f"{moment.at_ms:,.2f} ms"
        lines.append(f"{at:>14}  {one_line(moment.who)}: {one_line(moment.what)}")
    lines.extend(
        "; ".join(f"{name} = {value}" for name, value in example.items())
        for example in finding.counter_examples[:COUNTER_EXAMPLES_MAX]
    )
    return [*lines, "", f"Again: {verdict.command}"]
