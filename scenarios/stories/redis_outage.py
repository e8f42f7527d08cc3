"""Redis vanishes."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import Cut, at
from checker.assumptions import admitted_by, happened, in_flight_together, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import ADVICE, ADVICE_AGAIN, LEDGER, RECOVERY, SCARCITY, WITHOUT_ADVICE
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99, recovers

SCENARIO = Scenario(
    name="redis_outage",
    story=(
        "Redis vanishes at the height of the rush: open connections end, new ones are refused. It only ever advised, so "
        "nobody may notice in the ledger, and nobody may wait long for an adviser that is not there."
    ),
    sale=Sale(resources=4, capacity=60),
    # A permit that nobody could give back is out for a second, and not for ten.
    settings={"RESERVATION_REDIS_PERMIT_LEASE_MS": "1000"},
    crowd=Crowd(
        habits={"eager": 0.7, "double_clicker": 0.2, "canceller": 0.1},
        arrivals=burst(40, within=0.3) + steady(rate=70, seconds=4.2),
    ),
    faults=(at(seconds=0.4, inject=Cut("redis"), heal_after=0.9),),
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
        landed("cut"),
        admitted_by("local-fallback", at_least=10),
        in_flight_together(at_least=4),
        happened("hold:ok", "hold:fail:CAPACITY_EXHAUSTED", "confirm:ok"),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.5), recovers("hold", within_seconds=1.0)),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=Sale(resources=4, capacity=800),
    crowd=replace(SCENARIO.crowd, arrivals=burst(60, within=0.5) + steady(rate=150, seconds=24.5)),
    faults=(
        at(seconds=4, inject=Cut("redis"), heal_after=6),
        at(seconds=16, inject=Cut("redis-a"), heal_after=4),
    ),
)
