"""The scorecard of each fault: did it land, who felt it, and how long the service took to come back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reports.latency import FAULTS_MAX

if TYPE_CHECKING:
    import pandas as pd

    from reports.evidence import Evidence, Fault

WINDOW_MS = 250.0
WINDOW_VALUES_MIN = 10
TOLERANCE = 1.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """How one fault went; times in ms after healing, None where it was not seen (or never healed).

    `baseline_ms` is the p99 response time of operations over before the fault; `calm_ms` is when the p99 of a
    quarter second of arrivals first came within 1.25 of it; `drained_ms` when the outbox was first seen empty.
    `redis_ms` is when the slowest node first let a command in with Redis' word again, of a fault of Redis.
    """

    fault: Fault
    felt: int
    first_ok_ms: float | None
    baseline_ms: float | None
    calm_ms: float | None
    drained_ms: float | None
    redis_ms: float | None = None

    @property
    def of_redis(self) -> bool:
        """Whether Redis, or the way to it, was broken."""
        return self.fault.where.partition("-")[0] == "redis"


def scorecard(run: Evidence) -> tuple[Score, ...]:
    """Score every fault of the run, at most a dozen."""
    return tuple(_score(run, fault) for fault in run.faults[:FAULTS_MAX])


def _score(run: Evidence, fault: Fault) -> Score:
    operations, start, end = run.operations, fault.injected_ms, fault.healed_ms
    if operations is None or start is None:
        return Score(fault=fault, felt=0, first_ok_ms=None, baseline_ms=None, calm_ms=None, drained_ms=None)
    over = operations["done_ms"] < start
    clear = operations["intended_ms"] > (np.inf if end is None else end)
    felt = operations[~over & ~clear & (operations["outcome"] == "info")]
    calm_ms, baseline_ms = None, _p99(operations.loc[over, "response_ms"])
    if baseline_ms is not None and end is not None:
        calm_ms = _calm(operations[clear], end, baseline_ms * TOLERANCE)
    return Score(
        fault=fault,
        felt=len(felt),
        first_ok_ms=None if end is None else _first_ok(operations, end),
        baseline_ms=baseline_ms,
        calm_ms=calm_ms,
        drained_ms=None if end is None else _drained(run.samples, end),
        redis_ms=None if end is None else _asked_again(run.samples, fault, end),
    )


def _first_ok(operations: pd.DataFrame, end_ms: float) -> float | None:
    """Return how long after healing the first operation *sent* after it succeeded."""
    done = operations.loc[(operations["sent_ms"] > end_ms) & (operations["outcome"] == "ok"), "done_ms"]
    return float(done.min() - end_ms) if len(done) else None


def _p99(values_ms: pd.Series[float]) -> float | None:
    ordered = np.sort(values_ms.dropna().to_numpy())
    return float(ordered[-(-len(ordered) * 99 // 100) - 1]) if len(ordered) >= WINDOW_VALUES_MIN else None


def _calm(after: pd.DataFrame, end_ms: float, limit_ms: float) -> float | None:
    """Return the end of the first window whose p99 is within the limit, of windows with enough arrivals."""
    window = ((after["intended_ms"] - end_ms) // WINDOW_MS).astype(int)
    # What was never answered is slower than any limit.
    waited = after["response_ms"].fillna(np.inf)
    for number, values in waited.groupby(window):
        if len(values) >= WINDOW_VALUES_MIN and np.percentile(values, 99, method="inverted_cdf") <= limit_ms:
            return (int(str(number)) + 1) * WINDOW_MS
    return None


def _drained(samples: pd.DataFrame | None, end_ms: float) -> float | None:
    """Return how long after healing a sample of the outbox first showed it empty."""
    if samples is None:
        return None
    outbox = samples[samples["metric"].str.contains("outbox", na=False) & (samples["mono_ms"] > end_ms)]
    empty = outbox.loc[outbox["value"] == 0, "mono_ms"]
    return float(empty.min() - end_ms) if len(empty) else None


def _asked_again(samples: pd.DataFrame | None, fault: Fault, end_ms: float) -> float | None:
    """Return how long after healing each node had let a command in with Redis' word; None while one had not."""
    if samples is None or fault.where.partition("-")[0] != "redis":
        return None
    told = samples[samples["source"].str.startswith("admission/", na=False)]
    after = told[(told["mono_ms"] > end_ms) & (told["metric"] == "redis")].groupby("source")["mono_ms"].min()
    every = told["source"].nunique()
    return float(after.max() - end_ms) if every and len(after) == every else None
