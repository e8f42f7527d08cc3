"""What a process tells Prometheus: requests as they end, and gauges read when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from starlette.responses import Response

from service.reservation.admission.breaker import Circuit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric
    from starlette.requests import Request

    from service.database import Database
    from service.reservation.admission.gate import Gate
    from service.reservation.notifier import Round
    from service.reservation.sweeper import Sweep

_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_CIRCUITS: Final = {Circuit.CLOSED: 0, Circuit.HALF_OPEN: 1, Circuit.OPEN: 2}


class NodeMetrics:
    """The metrics of one API node."""

    def __init__(self, database: Database, gate: Gate) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "reservation_requests", "Requests answered", ["operation", "status"], registry=self.registry
        )
        self._seconds = Histogram(
            "reservation_request_seconds",
            "Time to an answer",
            ["operation"],
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._children: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self.registry.register(_Levels(database, gate))

    def answered(self, operation: str, status: int, seconds: float) -> None:
        """Count one answer."""
        children = self._children.get((operation, status))
        if children is None:  # looking them up by their labels costs more than they do
            children = self._requests.labels(operation, str(status)), self._seconds.labels(operation)
            self._children[operation, status] = children
        requests, durations = children
        requests.inc()
        durations.observe(seconds)

    async def show(self, _: Request) -> Response:
        """Answer /metrics."""
        return Response(generate_latest(self.registry), headers={"Content-Type": CONTENT_TYPE_LATEST})


class _Levels:
    """Pool, bulkhead, breaker and admissions as they stand when asked."""

    def __init__(self, database: Database, gate: Gate) -> None:
        self._database = database
        self._gate = gate

    def collect(self) -> Iterator[Metric]:
        """Return the levels."""
        gate, bulkhead = self._gate, self._gate.bulkhead
        yield _gauge("reservation_pool_in_use", "Database connections lent out", self._database.in_use)
        yield _gauge("reservation_pool_open", "Database connections open", self._database.open_connections)
        yield _gauge("reservation_bulkhead_in_use", "Calls under way", bulkhead.in_use)
        yield _gauge("reservation_bulkhead_permits", "Calls that may be under way", bulkhead.permits)
        yield CounterMetricFamily(
            "reservation_bulkhead_refused", "Calls refused by the bulkhead", value=bulkhead.refused_total
        )
        if gate.redis is not None:
            level = _CIRCUITS[gate.redis.breaker.circuit]
            yield _gauge("reservation_breaker", "Redis circuit: 0 closed, 1 half-open, 2 open", level)
        admissions = CounterMetricFamily(
            "reservation_admissions", "Commands by who had a say", labels=["way"]
        )
        for way, count in gate.admitted.items():
            admissions.add_metric([way], count)
        yield admissions


class WorkerMetrics:
    """The metrics of one worker process."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._ticks = Counter(
            "reservation_sweep_ticks", "Sweep ticks by outcome", ["outcome"], registry=self.registry
        )
        self._swept = Counter(
            "reservation_swept", "Rows ended or promoted by sweeps", ["what"], registry=self.registry
        )
        self._notices = Counter(
            "reservation_notices", "Notices by what became of them", ["what"], registry=self.registry
        )
        self._waiting = Gauge("reservation_outbox_depth", "Notices still to be sent", registry=self.registry)

    def swept(self, sweep: Sweep) -> None:
        """Count one tick of the sweeper."""
        self._ticks.labels(sweep.outcome).inc()
        self._swept.labels("holds").inc(sum(summary.expired_holds for summary in sweep.summaries))
        self._swept.labels("offers").inc(sum(summary.expired_offers for summary in sweep.summaries))
        self._swept.labels("promoted").inc(sum(summary.promoted_entries for summary in sweep.summaries))
        self._swept.labels("failed_resources").inc(sweep.failed)

    def sent(self, done: Round) -> None:
        """Count one round of the notifier."""
        for what in ("delivered", "failed", "stale", "exhausted"):
            self._notices.labels(what).inc(getattr(done, what))
        self._waiting.set(done.waiting)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)
