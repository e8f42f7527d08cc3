"""Redis forgets."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import Flush, every
from checker.assumptions import happened, in_flight_together, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import ADVICE, KEYS, LEDGER, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="redis_amnesia",
    story=(
        "Redis loses everything that it knew, again and again: who has a permit, which commands are under way. "
        "Permits are given back that nobody remembers, twins are no longer told apart. All of that was advice."
    ),
    sale=Sale(resources=4, capacity=40),
    # A permit that nobody could give back is out for a second, and not for ten.
    settings={"RESERVATION_REDIS_PERMIT_LEASE_MS": "1000"},
    crowd=Crowd(
        habits={"twin_clicker": 0.5, "eager": 0.3, "canceller": 0.2},
        arrivals=burst(40, within=0.3) + steady(rate=70, seconds=2.3),
    ),
    faults=every(seconds=0.4, first=0.3, until=2.1, inject=Flush("redis")),
    invariants=(*LEDGER, *ADVICE, *SCARCITY, *KEYS),
    assumptions=(
        landed("flush"),
        in_flight_together(at_least=4),
        happened("hold:ok", "hold:fail", "confirm:ok"),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=450),
    crowd=replace(SCENARIO.crowd, arrivals=steady(rate=120, seconds=24)),
    faults=every(seconds=0.5, first=1.0, until=22.0, inject=Flush("redis")),
)
