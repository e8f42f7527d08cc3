"""Exact latency quantiles of raw values: response time (done − intended) and service time (done − sent)."""

from __future__ import annotations

import csv as csv_format
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from reports.evidence import Evidence, Fault

# In thousandths, so that a rank is whole-number arithmetic: 0.999 × 1,000 is not 999 in floats.
PERMILLES = (500, 900, 990, 999)
NAMES = ("p50", "p90", "p99", "p99.9", "max")
EVERY = "all"
PHASES = ("before", "during", "after")
FAULTS_MAX = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """p50, p90, p99, p99.9 and max in ms; None where fewer values exist than one in that tail."""

    response_ms: tuple[float | None, ...]
    service_ms: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The spread of one operation, for one outcome or `all`; `unanswered` have no latency and are not in it."""

    operation: str
    outcome: str
    phase: str
    count: int
    unanswered: int
    spread: Spread


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Rows over the whole run, and for each fault the rows by phase; empty without operations."""

    whole: tuple[Row, ...]
    around: tuple[tuple[Fault, tuple[Row, ...]], ...]


def tables(run: Evidence) -> Tables:
    """Compute the quantiles by operation and outcome, and by operation and phase around each fault."""
    if run.operations is None:
        return Tables(whole=(), around=())
    operations = run.operations
    whole = tuple(row for kind, part in by_kind(operations) for row in _by_outcome(kind, part))
    struck = [fault for fault in run.faults if fault.injected_ms is not None][:FAULTS_MAX]
    around = tuple((fault, tuple(_by_phase(operations, fault))) for fault in struck)
    return Tables(whole=whole, around=around)


def by_kind(operations: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the operations of each kind, the most frequent kind first."""
    for kind in operations["kind"].value_counts().index:
        yield str(kind), operations[operations["kind"] == kind]


def exact(values_ms: np.ndarray) -> tuple[float | None, ...]:
    """Return p50, p90, p99, p99.9 and max by nearest rank: each a value that was measured, none interpolated.

    A quantile is None unless at least one value lies beyond it: the p99.9 of 200 values would only be their
    maximum under a grander name.
    """
    ordered = np.sort(values_ms)
    count = len(ordered)
    found: list[float | None] = []
    for permille in PERMILLES:
        rank = -(-count * permille // 1000)
        found.append(float(ordered[rank - 1]) if 0 < rank < count else None)
    found.append(float(ordered[-1]) if count else None)
    return tuple(found)


def csv(tables: Tables) -> str:
    """Return all quantiles as CSV in ms, one line per operation, outcome, fault, phase and measure."""
    text = io.StringIO()
    writer = csv_format.writer(text, lineterminator="\n")
    names = [f"{name}_ms" for name in NAMES]
    writer.writerow(["operation", "outcome", "fault", "phase", "measure", "count", "unanswered", *names])
    parts: list[tuple[str, tuple[Row, ...]]] = [("", tables.whole)]
    parts += [(fault.name, rows) for fault, rows in tables.around]
    for fault_name, rows in parts:
        for row in rows:
            for measure, values in (("response", row.spread.response_ms), ("service", row.spread.service_ms)):
                head = [row.operation, row.outcome, fault_name, row.phase, measure, row.count, row.unanswered]
                writer.writerow([*head, *("" if value is None else f"{value:.6f}" for value in values)])
    return text.getvalue()


def _by_outcome(kind: str, part: pd.DataFrame) -> Iterator[Row]:
    """Yield a row over everything, then one per outcome where there is more than one: refusals are quick."""
    yield _row(kind, EVERY, "", part)
    outcomes = [outcome for outcome in ("ok", "fail", "info") if (part["outcome"] == outcome).any()]
    if len(outcomes) > 1:
        for outcome in outcomes:
            yield _row(kind, outcome, "", part[part["outcome"] == outcome])


def _by_phase(operations: pd.DataFrame, fault: Fault) -> Iterator[Row]:
    """Yield rows before, during and after one fault; what overlaps it at all counts as during."""
    start = fault.injected_ms or 0.0
    end = np.inf if fault.healed_ms is None else fault.healed_ms
    for kind, part in by_kind(operations):
        before = part["done_ms"] < start
        after = part["intended_ms"] > end
        for phase, chosen in zip(PHASES, (before, ~before & ~after, after), strict=True):
            yield _row(kind, EVERY, phase, part[chosen])


def _row(kind: str, outcome: str, phase: str, part: pd.DataFrame) -> Row:
    answered = part[part["done_ms"].notna()]
    sent = answered[answered["sent_ms"].notna()]
    return Row(
        operation=kind,
        outcome=outcome,
        phase=phase,
        count=len(part),
        unanswered=len(part) - len(answered),
        spread=Spread(
            response_ms=exact(answered["response_ms"].to_numpy()),
            service_ms=exact(sent["service_ms"].to_numpy()),
        ),
    )
