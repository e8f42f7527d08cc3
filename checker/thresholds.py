"""Whether what was measured keeps the scenario's thresholds; computed in this one place, from the evidence alone.

How quick a service is depends on the machine as well. A threshold that is not kept while the load or the machine was
unwell is unknown; one that is kept counts no more than an invariant would where what the story tells of did not happen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import duckdb

from checker.assumptions import load_healthy, premise
from checker.assumptions.load import waited_for_processors
from checker.verdict import Figure, Judgement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from checker.brief import Brief, Threshold
    from checker.evidence import Evidence
    from checker.verdict import Premise

PRESSURE_SHARE_MAX: Final = 0.9
"""Of the load's time, in which somebody waited for a processor: what is slow then may be so for want of one."""
RESTS_ON: Final = "history_complete"


class Measured(NamedTuple):
    """What a threshold requires and what was measured, in words; `seconds` is None where there is no figure.

    `kept` is None where too little was looked at to tell.
    """

    kept: bool | None
    looked_at: int
    seconds: float | None
    required: str
    words: str


def figures(evidence: Evidence, brief: Brief, premises: Sequence[Premise]) -> tuple[Figure, ...]:
    """Measure every threshold of the scenario; they count for the verdict where the brief says that they are judged."""
    if not brief.thresholds:
        return ()
    unwell = "; ".join(_unwell(evidence, premises))
    return tuple(_figure(evidence, brief, each, premises, unwell) for each in brief.thresholds)


def judgements(told: Sequence[Figure]) -> tuple[Judgement, ...]:
    """Return what counts for the verdict of what was measured."""
    return tuple(figure.judgement for figure in told if figure.judged)


def reasons(told: Sequence[Figure]) -> tuple[str, ...]:
    """Say of each judged threshold why the verdict is not valid."""
    judged = [figure for figure in told if figure.judged]
    broken = [figure for figure in judged if figure.judgement is Judgement.INVALID]
    open_ones = [figure for figure in judged if figure.judgement is Judgement.UNKNOWN]
    return (
        *(f"{each.name} is not kept: required {each.required}; measured {each.measured}" for each in broken),
        *(f"{each.name} is unknown: {each.reason}" for each in open_ones),
    )


def _figure(
    evidence: Evidence, brief: Brief, threshold: Threshold, premises: Sequence[Premise], unwell: str
) -> Figure:
    name = f"{threshold.name} of {threshold.operation}"
    try:
        measured = _MEASURES[threshold.name](evidence, threshold)
    except (duckdb.Error, LookupError, TypeError, ValueError) as error:
        said = f"it could not be measured: {type(error).__name__}: {str(error).partition(chr(10))[0]}"
        measured = Measured(None, 0, None, f"{name} to be measurable", said)
    judgement, reason = _judgement(measured, premises, unwell)
    return Figure(
        name=name,
        operation=threshold.operation,
        judgement=judgement,
        judged=brief.judges_thresholds,
        looked_at=measured.looked_at,
        measured_seconds=measured.seconds,
        required=measured.required,
        measured=measured.words,
        reason=reason,
    )


def _judgement(measured: Measured, premises: Sequence[Premise], unwell: str) -> tuple[Judgement, str | None]:
    missed = [each.name for each in premises if not each.holds]
    if RESTS_ON in missed:
        return Judgement.UNKNOWN, f"{RESTS_ON} does not hold"
    if measured.kept is None:
        return Judgement.UNKNOWN, measured.words
    if not measured.kept:
        return (Judgement.UNKNOWN, f"it is not kept, but {unwell}") if unwell else (Judgement.INVALID, None)
    vacuous = [each.name for each in premises if each.kind == "vacuity" and not each.holds]
    if vacuous:
        return Judgement.UNKNOWN, f"it is kept, but without {', '.join(vacuous)}"
    return Judgement.VALID, None


def _unwell(evidence: Evidence, premises: Sequence[Premise]) -> Iterator[str]:
    """Say why the load, or the machine that it ran on, was unwell while it was measured."""
    assumed = [each for each in premises if each.name == load_healthy.__name__]
    for each in assumed or [premise(evidence, load_healthy())]:
        if not each.holds:
            yield f"the load was tired ({each.measured})"
    pressure = waited_for_processors(evidence)
    if pressure is not None and pressure > PRESSURE_SHARE_MAX:
        yield f"something waited for a processor for {pressure:.0%} of the time"


def _p99(evidence: Evidence, threshold: Threshold) -> Measured:
    """Measure the response time that one operation in a hundred exceeds; what was never answered exceeds any."""
    limit = float(threshold.parameters["below_seconds"])
    outside = bool(threshold.parameters.get("outside_faults", 0))
    required = f"below {_ms(limit)}" + (", outside faults and the second after each" if outside else "")
    row = evidence.rows(_P99, threshold.operation, outside)
    if not row:
        return Measured(None, 0, None, required, f"there was no {threshold.operation} to measure")
    many, unanswered, rank, waited_ns = row[0]
    seconds = None if waited_ns is None else waited_ns / 1e9
    said = "never answered" if seconds is None else _ms(seconds)
    over = f"{many:,} operations" + (f", {unanswered:,} of them never answered" if unanswered else "")
    kept: bool | None = seconds is not None and seconds < limit
    if rank < many:
        return Measured(kept, many, seconds, required, f"{said} over {over}")
    # The slowest of a few is no p99, but where it is quick enough so is any quantile.
    words = f"the slowest of {over} took {said}" if seconds is not None else f"of {over}"
    return Measured(kept or None, many, seconds, required, f"{words}; a p99 needs a hundred")


def _recovers(evidence: Evidence, threshold: Threshold) -> Measured:
    """Measure how long after each healing somebody who asked was first told a decision, whichever way it went."""
    limit = float(threshold.parameters["within_seconds"])
    required = f"a decision within {_ms(limit)} of asking after a fault is healed"
    # From the first that asks: a service that nobody asks cannot show that it is well.
    rows = evidence.rows(_RECOVERIES, threshold.operation)
    told = [(recovered_ns, fault) for fault, recovered_ns, _ in rows if recovered_ns is not None]
    silent = [(fault, observed_ns or 0) for fault, recovered_ns, observed_ns in rows if recovered_ns is None]
    never = [fault for fault, observed_ns in silent if observed_ns >= limit * 1e9]
    unseen = [fault for fault, observed_ns in silent if observed_ns < limit * 1e9]
    many = len(told) + len(never)
    over = f"{many} healed fault{'s' if many > 1 else ''}"
    if never:
        return Measured(False, many, None, required, f"none after {never[0]}, of {over}")
    if not told:
        after = ", ".join(unseen) or "a fault"
        words = f"no {threshold.operation} was asked for after {after} was healed, or not for long enough"
        return Measured(None, 0, None, required, words)
    slowest, fault = max(told)
    words = f"{_ms(slowest / 1e9)}, after {fault}" + (f"; the slowest of {over}" if many > 1 else "")
    kept: bool | None = slowest <= limit * 1e9
    if unseen:
        # What is slow after one of them is slow; what is quick after some is not known to be so after the others.
        kept, words = (
            None if kept else False,
            f"{words}; nobody asked for long enough after {', '.join(unseen)}",
        )
    return Measured(kept, many, slowest / 1e9, required, words)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.3g} ms" if seconds < 1 else f"{seconds:,.3g} s"


_MEASURES: Final[dict[str, Callable[[Evidence, Threshold], Measured]]] = {
    "p99": _p99,
    "recovers": _recovers,
}
NAMES: Final = tuple(_MEASURES)

# By nearest rank. An operation is outside faults if it ended before one began and was meant to begin after the second
# that follows the last one's end.
_P99: Final = """
WITH waits AS (
    SELECT o.done_ns - o.intended_ns AS waited_ns
    FROM operations o ASOF LEFT JOIN broken b ON b.from_ns <= coalesce(o.done_ns, 9223372036854775807)
    WHERE o.kind = ? AND (NOT ? OR coalesce(b.until_ns < o.intended_ns, true))
),
ranked AS (
    SELECT waited_ns, row_number() OVER (ORDER BY waited_ns NULLS LAST) AS nr, count(*) OVER () AS many,
        count(*) FILTER (waited_ns IS NULL) OVER () AS unanswered
    FROM waits
)
SELECT many, unanswered, nr, waited_ns FROM ranked WHERE nr = (many * 99 + 99) // 100
"""

# Of faults that lie over one another the one that ends last; watched to the next one's beginning, or to the end. One that
# another still lay over which was never healed, or never landed for sure, has a row without a figure.
_RECOVERIES: Final = """
WITH overlaid AS (
    SELECT f.fault, f.healed_ns, count(*) AS many, bool_or(g.landed_ns IS NOT NULL AND g.healed_ns IS NOT NULL) AS by_one_that_counts
    FROM faults f JOIN faults g ON g.injected_ns <= f.healed_ns AND coalesce(g.healed_ns, 9223372036854775807) > f.healed_ns
    GROUP BY f.fault, f.healed_ns
),
ended AS (
    SELECT f.fault, f.healed_ns, o.many IS NULL AS bare,
        coalesce((SELECT min(n.injected_ns) FROM faults n WHERE n.injected_ns > f.healed_ns), 9223372036854775807) AS until_ns
    FROM faults f LEFT JOIN overlaid o ON o.fault = f.fault AND o.healed_ns = f.healed_ns
    WHERE f.healed_ns IS NOT NULL AND f.landed_ns IS NOT NULL AND NOT coalesce(o.by_one_that_counts, false)
),
asked AS (
    SELECT sent_ns, done_ns, outcome <> 'info' AND coalesce(status < 500, false) AS decided
    FROM operations WHERE kind = ? AND sent_ns IS NOT NULL
),
over AS (SELECT max(greatest(sent_ns, done_ns)) AS end_ns FROM operations)
SELECT e.fault, min(a.done_ns) FILTER (a.decided) - min(a.sent_ns), least(any_value(e.until_ns), any_value(o.end_ns)) - min(a.sent_ns)
FROM over o, ended e LEFT JOIN asked a ON e.bare AND a.sent_ns > e.healed_ns AND a.sent_ns < e.until_ns
GROUP BY e.fault, e.healed_ns ORDER BY e.healed_ns, e.fault
"""
