"""Too few ways to the database, and each of them slow."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import Latency, at
from checker.assumptions import happened, landed, load_healthy
from scenarios.arrivals import steady
from scenarios.promises import KEYS, LEDGER, RECOVERY, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99, recovers

SCENARIO = Scenario(
    name="pool_exhaustion",
    story=(
        "Each node has two connections to its database, and for a second every answer on them comes late. Whoever finds "
        "no connection must be told so at once and for certain, nothing may be half done, and when the database is quick "
        "again every connection must be back."
    ),
    sale=Sale(resources=3, capacity=40),
    settings={
        "RESERVATION_POOL_CONNECTIONS_MIN": "2",
        "RESERVATION_POOL_CONNECTIONS_MAX": "2",
        "RESERVATION_POOL_ACQUIRE_MS": "150",
    },
    crowd=Crowd(
        habits={"eager": 0.6, "canceller": 0.2, "retrier": 0.2}, arrivals=steady(rate=70, seconds=3.1)
    ),
    faults=(at(seconds=0.8, inject=Latency("pg", ms=60), heal_after=1.0),),
    invariants=(*LEDGER, *SCARCITY, *KEYS, *RECOVERY),
    assumptions=(
        landed("latency"),
        happened("hold:ok", "hold:fail:POOL_EXHAUSTED", "confirm:ok"),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.5, outside_faults=True), recovers("hold", within_seconds=0.5)),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=Sale(resources=3, capacity=450),
    crowd=replace(SCENARIO.crowd, arrivals=steady(rate=120, seconds=24)),
    faults=(
        at(seconds=4, inject=Latency("pg", ms=60), heal_after=4),
        at(seconds=14, inject=Latency("pg", ms=120), heal_after=4),
    ),
)
