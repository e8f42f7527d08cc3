"""Redis comes and goes."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import Cut, every
from checker.assumptions import admitted_by, happened, in_flight_together, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import ADVICE, KEYS, LEDGER, SCARCITY, WITHOUT_ADVICE
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99, recovers

SCENARIO = Scenario(
    name="redis_flapping",
    story=(
        "Redis comes and goes, half a second each. Permits are taken and never given back, marks of commands under way "
        "are left behind, the breaker opens and closes; a command begun with Redis may end without it. The ledger is none "
        "of its business."
    ),
    sale=Sale(resources=4, capacity=50),
    # A permit that nobody could give back is out for a second, and not for ten.
    settings={"RESERVATION_REDIS_PERMIT_LEASE_MS": "1000"},
    crowd=Crowd(
        habits={"eager": 0.5, "twin_clicker": 0.3, "canceller": 0.2},
        arrivals=burst(40, within=0.3) + steady(rate=80, seconds=3.2),
    ),
    faults=every(seconds=1.0, first=0.4, until=3.0, inject=Cut("redis"), heal_after=0.5),
    invariants=(*LEDGER, *ADVICE, *SCARCITY, *WITHOUT_ADVICE, *KEYS),
    assumptions=(
        landed("redis"),
        admitted_by("local-fallback", at_least=10),
        in_flight_together(at_least=4),
        happened("hold:ok", "hold:fail", "confirm:ok"),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.5), recovers("hold", within_seconds=1.0)),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=Sale(resources=4, capacity=600),
    crowd=replace(SCENARIO.crowd, arrivals=burst(300, within=2.0) + steady(rate=150, seconds=24)),
    faults=every(seconds=1.5, first=1.0, until=22.0, inject=Cut("redis"), heal_after=0.7),
)
