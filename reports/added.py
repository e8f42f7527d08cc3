"""What a fault added to the latency of an operation: before, during and after it, from intent and from sending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.latency import NAMES, PHASES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reports.latency import Row, Tables

_SHOWN = ("p50", "p90", "p99")
MEASURES = {
    "response": "response time (from when it was intended to its answer)",
    "service": "service time (from when it was sent to its answer)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """One quantile of one operation around one fault, in ms; None where a phase has too few values for it."""

    fault: str
    operation: str
    measure: str
    quantile: str
    before_ms: float | None
    during_ms: float | None
    after_ms: float | None

    @property
    def during_added_ms(self) -> float | None:
        """What came on top while the fault was in force."""
        return _more(self.during_ms, self.before_ms)

    @property
    def after_added_ms(self) -> float | None:
        """What still came on top when it was healed."""
        return _more(self.after_ms, self.before_ms)


def added(tables: Tables) -> tuple[Added, ...]:
    """Return for each fault what it added to the operation that the run had most of."""
    operation = next((row.operation for row in tables.whole), "")
    return tuple(
        each
        for fault, rows in tables.around
        for each in _of(fault.name, operation, {row.phase: row for row in rows if row.operation == operation})
    )


def _of(fault: str, operation: str, by_phase: dict[str, Row]) -> Iterator[Added]:
    for measure in MEASURES:
        for quantile in _SHOWN:
            values = [_value(by_phase.get(phase), measure, quantile) for phase in PHASES]
            if any(value is not None for value in values):
                before, during, after = values
                yield Added(
                    fault=fault,
                    operation=operation,
                    measure=measure,
                    quantile=quantile,
                    before_ms=before,
                    during_ms=during,
                    after_ms=after,
                )


def _value(row: Row | None, measure: str, quantile: str) -> float | None:
    if row is None:
        return None
    values = row.spread.response_ms if measure == "response" else row.spread.service_ms
    return values[NAMES.index(quantile)]


def _more(now_ms: float | None, before_ms: float | None) -> float | None:
    return None if now_ms is None or before_ms is None else now_ms - before_ms
