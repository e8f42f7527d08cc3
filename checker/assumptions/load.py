"""Vacuity: a tired load generator proves nothing.

Expects samples of source `load/<shard>`: `arrivals` (started or dropped so far), `dropped` (at the cap, so far) and
`lag_max_us` (by how much the load process, which wakes every 10 ms for this alone, woke late at worst).
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


def load_healthy(
    *,
    lag_ms_p99_max: float = LAG_MS_P99_MAX,
    dropped_share_max: float = DROPPED_SHARE_MAX,
    lag_ms_max: float = LAG_MS_MAX,
) -> Assumption:
    """Require that first attempts left at most so late (p99, sent − intended), and that so few arrivals were dropped.

    No load process may ever have stood still for longer than `lag_ms_max`, by its own pulse: how late an operation left
    at worst may be the doing of a node that took its time to accept the connection.
    """
    limits = {
        "lag_ms_p99_max": lag_ms_p99_max,
        "dropped_share_max": dropped_share_max,
        "lag_ms_max": lag_ms_max,
    }
    return Assumption(name="load_healthy", kind="vacuity", parameters={**limits})


@measures(load_healthy, "vacuity")
def _load_healthy(evidence: Evidence, parameters: Parameters) -> Measured:
    lag_max, dropped_max, still_max = (
        float(parameters.get("lag_ms_p99_max", LAG_MS_P99_MAX)),
        float(parameters.get("dropped_share_max", DROPPED_SHARE_MAX)),
        float(parameters.get("lag_ms_max", LAG_MS_MAX)),
    )
    (lag,) = evidence.row(
        "SELECT quantile_disc(sent_ns - intended_ns, 0.99) / 1e6 FROM operations WHERE attempt = 1 AND sent_ns IS NOT NULL"
    )
    arrivals, dropped = evidence.row(
        """
        SELECT sum(value) FILTER (metric = 'arrivals'), coalesce(sum(value) FILTER (metric = 'dropped'), 0)
        FROM (SELECT source, metric, max(value) AS value FROM samples WHERE source LIKE 'load/%' GROUP BY ALL)
        """
    )
    pulses, still = evidence.row(
        """
        SELECT count(DISTINCT source), max(value) / 1e3 FROM samples
        WHERE metric = 'lag_max_us' AND source IN (SELECT 'load/' || shard FROM operations)
        """
    )
    share = dropped / arrivals if arrivals else None
    alive = pulses >= evidence.brief.shards
    return Measured(
        lag is not None
        and lag <= lag_max
        and share is not None
        and share <= dropped_max
        and alive
        and still <= still_max,
        f"sent at most {lag_max:g} ms late at p99, at most {dropped_max:.1%} of the arrivals dropped, "
        f"no load process still for more than {still_max:g} ms",
        ", ".join(
            (
                f"{_ms(lag)} late at p99",
                "the arrivals were not counted"
                if share is None
                else f"{share:.1%} dropped ({dropped:.0f} of {arrivals:.0f})",
                f"still for {still:.0f} ms at worst"
                if alive
                else f"the pulse of {pulses} of {evidence.brief.shards} load processes was heard",
            )
        ),
    )


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


def _ms(value: float | None) -> str:
    return "nothing was sent, so nothing was" if value is None else f"{value:.2f} ms"
