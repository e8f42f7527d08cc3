"""The page of one run: one self-contained HTML file without scripts or outside requests."""

from __future__ import annotations

from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
from markupsafe import Markup

from checker.verdict import Judgement
from reports import wording
from reports.added import added
from reports.plots import draw
from reports.printable import clean, shorten
from reports.race import timeline
from reports.trail import opened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from checker.verdict import Finding, Verdict
    from reports.evidence import Evidence
    from reports.latency import Row, Tables
    from reports.recovery import Score

COUNTER_EXAMPLES_MAX = 20
CELL_CHARACTERS_MAX = 200


def render(verdict: Verdict, run: Evidence, tables: Tables, scores: tuple[Score, ...]) -> str:
    """Return report.html for one run."""
    findings = wording.worst_first(verdict.findings)
    with opened(run) as trail:
        race, occupied = timeline(run, verdict, trail), trail.occupancy()
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            verdict=verdict,
            brief=run.brief,
            run=run,
            headline=wording.headline(verdict),
            tally=wording.tally(verdict),
            told=[finding for finding in findings if finding.judgement is not Judgement.VALID],
            held=[finding for finding in findings if finding.judgement is Judgement.VALID],
            tables=tables,
            scores=scores,
            added=added(tables),
            race=race,
            plots=draw(run, occupied),
        )
    )


@cache
def environment() -> jinja2.Environment:
    """Return the template environment: everything is cleaned, then escaped; an unknown name is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        finalize=_finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "ms": wording.milliseconds,
        "cell": _cell,
        "examples": _examples,
        "by_operation": _by_operation,
    }
    made.globals |= {
        "symbol": wording.SYMBOL,
        "word": wording.WORD,
        "outcome_words": wording.OUTCOME_WORDS,
        "counted": wording.counted,
        "kept": wording.KEPT,
        "not_judged": wording.NOT_JUDGED,
    }
    return made


def _finalize(value: Any) -> Any:
    """Clean whatever a template prints, except markup that was made here."""
    if value is None:
        return ""
    return value if isinstance(value, Markup | int | float) else clean(str(value))


def _by_operation(rows: Iterable[Row]) -> list[tuple[str, list[Row]]]:
    """Return rows grouped by operation in the order in which they stand; Jinja's own groupby would sort them."""
    return [(operation, list(part)) for operation, part in groupby(rows, key=lambda row: row.operation)]


def _cell(value: object) -> str:
    """Return one value of a counter-example as it is shown in a table."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return shorten(str(value), CELL_CHARACTERS_MAX)


def _examples(finding: Finding) -> tuple[list[str], list[list[object]]]:
    """Return the columns and rows of a finding's counter-examples, capped."""
    shown = finding.counter_examples[:COUNTER_EXAMPLES_MAX]
    columns = list(dict.fromkeys(name for example in shown for name in example))
    return columns, [[example.get(name) for name in columns] for example in shown]
