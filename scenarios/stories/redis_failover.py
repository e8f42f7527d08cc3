"""Redis fails over to a replica that was behind."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import Rollback, at
from checker.assumptions import happened, in_flight_together, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import ADVICE, ADVICE_AGAIN, LEDGER, RECOVERY, SCARCITY, WITHOUT_ADVICE
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99, recovers

SCENARIO = Scenario(
    name="redis_failover",
    story=(
        "Redis fails over to a replica that had not yet heard of the last half second: what was written since, and was "
        "acknowledged, is undone. Seats that were sold meanwhile are sold, whatever Redis believes now."
    ),
    sale=Sale(resources=4, capacity=25),
    # A permit that comes back with the snapshot is out for a second, and not for ten.
    settings={"RESERVATION_REDIS_PERMIT_LEASE_MS": "1000"},
    crowd=Crowd(
        habits={"eager": 0.8, "double_clicker": 0.2},
        arrivals=burst(20, within=0.3) + steady(rate=60, seconds=4.2),
    ),
    faults=(at(seconds=0.5, inject=Rollback("redis", lost_ms=500)),),
    invariants=(
        *LEDGER,
        *ADVICE,
        *SCARCITY,
        *WITHOUT_ADVICE,
        *ADVICE_AGAIN,
        *RECOVERY,
        "replay_is_identical",
    ),
    assumptions=(
        landed("rollback"),
        in_flight_together(at_least=2),
        happened("hold:ok", "hold:fail:CAPACITY_EXHAUSTED", "confirm:ok"),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.5), recovers("hold", within_seconds=1.0)),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=500),
    crowd=replace(SCENARIO.crowd, arrivals=steady(rate=150, seconds=24)),
    faults=tuple(at(seconds=start, inject=Rollback("redis", lost_ms=1_000)) for start in (4, 11, 18)),
)
