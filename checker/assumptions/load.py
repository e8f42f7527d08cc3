"""Vacuity: a tired load generator proves nothing.

Expects samples of source `load/<shard>`: `arrivals` (started or dropped so far), `dropped` (at the cap, so far),
`lag_max_us` (by how much the load process, which wakes every 10 ms for this alone, woke late at worst) and `cpu_share` (of
one processor, over half a second); and of source `machine`, where the system tells: `cpu_pressure`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from checker.assumptions.registry import Measured, measures
from checker.brief import Assumption

if TYPE_CHECKING:
    from checker.assumptions.registry import Parameters
    from checker.evidence import Evidence

LAG_MS_P99_MAX: Final = 50.0
DROPPED_SHARE_MAX: Final = 0.0
LAG_MS_MAX: Final = 500.0
"""At worst. A healthy process on two busy processors was never more than 62 ms late in a hundred runs; one in a hundred
operations says nothing of a process that stood still for seconds and was quick before and after."""

CPU_SHARE_MAX: Final = 0.9
"""Of one processor, over half a second: a load process that is busier measures itself."""
PRESSURE_SHARE_MAX: Final = 1.0
"""Of the load's time, in which something that could have run waited for a processor (Linux: /proc/pressure/cpu). A crowd
that brings a service to its limits does that by itself (0.87 in the race for the last seat, on a machine that is quiet):
whether the load was late is told by its own clocks, so only who judges latency, or asks for less, minds."""


def load_healthy(
    *,
    lag_ms_p99_max: float = LAG_MS_P99_MAX,
    dropped_share_max: float = DROPPED_SHARE_MAX,
    lag_ms_max: float = LAG_MS_MAX,
    cpu_share_max: float = CPU_SHARE_MAX,
    pressure_share_max: float = PRESSURE_SHARE_MAX,
) -> Assumption:
    """Require that first attempts left at most so late (p99, sent − intended), and that so few arrivals were dropped.

    No load process may ever have stood still for longer than `lag_ms_max`, by its own pulse: how late an operation left
    at worst may be the doing of a node that took its time to accept the connection. None may have been busier, and nobody
    may have waited for a processor for more of the load's time, than the two shares say.
    """
    limits = {
        "lag_ms_p99_max": lag_ms_p99_max,
        "dropped_share_max": dropped_share_max,
        "lag_ms_max": lag_ms_max,
        "cpu_share_max": cpu_share_max,
        "pressure_share_max": pressure_share_max,
    }
    return Assumption(name="load_healthy", kind="vacuity", parameters={**limits})


# Before the first request a load process is being set up, and after the last answer it writes down what it saw.
_BUSIEST: Final = """
SELECT max(value) FROM samples, (SELECT min(sent_ns) AS since_ns, max(done_ns) AS until_ns FROM operations)
WHERE source LIKE 'load/%' AND metric = 'cpu_share' AND mono_ns BETWEEN since_ns AND until_ns
"""
# Each reading says for which share of the time since the one before somebody waited.
_PRESSURE: Final = """
SELECT avg(value) FROM samples, (SELECT min(sent_ns) AS since_ns, max(done_ns) AS until_ns FROM operations)
WHERE source = 'machine' AND metric = 'cpu_pressure' AND mono_ns BETWEEN since_ns AND until_ns
"""


@measures(load_healthy, "vacuity")
def _load_healthy(evidence: Evidence, parameters: Parameters) -> Measured:
    limits = {**load_healthy().parameters, **parameters}
    looks = [look(evidence, limits) for look in (_lag, _dropped, _stillness, _busyness, _pressure)]
    return Measured(
        all(look.holds for look in looks),
        ", ".join(look.required for look in looks if look.required),
        ", ".join(look.measured for look in looks if look.measured),
    )


def _lag(evidence: Evidence, limits: Parameters) -> Measured:
    most = float(limits["lag_ms_p99_max"])
    (lag,) = evidence.row(
        "SELECT quantile_disc(sent_ns - intended_ns, 0.99) / 1e6 FROM operations WHERE attempt = 1 AND sent_ns IS NOT NULL"
    )
    said = "nothing was sent, so nothing was late at p99" if lag is None else f"{lag:.2f} ms late at p99"
    return Measured(lag is not None and lag <= most, f"sent at most {most:g} ms late at p99", said)


def _dropped(evidence: Evidence, limits: Parameters) -> Measured:
    most = float(limits["dropped_share_max"])
    required = f"at most {most:.1%} of the arrivals dropped"
    arrivals, dropped = evidence.row(
        """
        SELECT sum(value) FILTER (metric = 'arrivals'), coalesce(sum(value) FILTER (metric = 'dropped'), 0)
        FROM (SELECT source, metric, max(value) AS value FROM samples WHERE source LIKE 'load/%' GROUP BY ALL)
        """
    )
    if not arrivals:
        return Measured(False, required, "the arrivals were not counted")
    share = dropped / arrivals
    return Measured(share <= most, required, f"{share:.1%} dropped ({dropped:.0f} of {arrivals:.0f})")


def _stillness(evidence: Evidence, limits: Parameters) -> Measured:
    most, shards = float(limits["lag_ms_max"]), evidence.brief.shards
    required = f"no load process still for more than {most:g} ms"
    pulses, still = evidence.row(
        """
        SELECT count(DISTINCT source), max(value) / 1e3 FROM samples
        WHERE metric = 'lag_max_us' AND source IN (SELECT 'load/' || shard FROM operations)
        """
    )
    if pulses < shards:
        return Measured(False, required, f"the pulse of {pulses} of {shards} load processes was heard")
    return Measured(still <= most, required, f"still for {still:.0f} ms at worst")


def _busyness(evidence: Evidence, limits: Parameters) -> Measured:
    most = float(limits["cpu_share_max"])
    (busiest,) = evidence.row(_BUSIEST)
    said = "" if busiest is None else f"a load process used {busiest:.0%} of a processor"
    return Measured(
        busiest is None or busiest <= most, f"none that used more than {most:.0%} of a processor", said
    )


def waited_for_processors(evidence: Evidence) -> float | None:
    """Return the share of the load's time in which something that could have run waited; None where nobody told."""
    (share,) = evidence.row(_PRESSURE)
    return None if share is None else float(share)


def _pressure(evidence: Evidence, limits: Parameters) -> Measured:
    most = float(limits["pressure_share_max"])
    pressure = waited_for_processors(evidence)
    said = "" if pressure is None else f"something waited for a processor for {pressure:.0%} of the time"
    required = f"nothing that waited for a processor for more than {most:.0%} of the time" if most < 1 else ""
    return Measured(pressure is None or pressure <= most, required, said)


def release_skew(*, us_p50_max: float) -> Assumption:
    """Require that the operations of a race leave within so short a time of one another, in half of the races."""
    return Assumption(name="release_skew", kind="vacuity", parameters={"us_p50_max": us_p50_max})


@measures(release_skew, "vacuity")
def _release_skew(evidence: Evidence, parameters: Parameters) -> Measured:
    most = float(parameters["us_p50_max"])
    races, skew = evidence.row(
        """
        SELECT count(*), quantile_disc(skew, 0.5) / 1e3 FROM (
            SELECT max(sent_ns) - min(sent_ns) AS skew FROM operations
            WHERE race IS NOT NULL AND attempt = 1 AND sent_ns IS NOT NULL GROUP BY race HAVING count(*) > 1
        )
        """
    )
    return Measured(
        races > 0 and skew <= most,
        f"the buyers of a race leave within {most:g} µs at p50",
        f"{skew:.0f} µs at p50 over {races} races" if races else "there was no race",
    )
