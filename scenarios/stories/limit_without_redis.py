"""Two seats a head, and nobody there to count them quickly."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import Cut, at
from checker.assumptions import admitted_by, happened, in_flight_together, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import LEDGER, REFUSALS, WITHOUT_ADVICE
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="limit_without_redis",
    story=(
        "Nobody may have more than two seats, bots ask for eight at once, and for more than a second of the rush Redis "
        "is away. A limit that only holds while a cache is there is none: whoever has two is refused a third, as before."
    ),
    sale=Sale(resources=2, capacity=200, owner_limit=2),
    settings={"RESERVATION_REDIS_PERMIT_LEASE_MS": "1000"},
    crowd=Crowd(
        habits={"bot": 0.6, "twin_clicker": 0.2, "eager": 0.2},
        arrivals=burst(16, within=0.2) + steady(rate=14, seconds=2.4),
    ),
    faults=(at(seconds=0.5, inject=Cut("redis"), heal_after=1.2),),
    invariants=(*LEDGER, *REFUSALS, *WITHOUT_ADVICE, "limits_hold"),
    assumptions=(
        landed("redis"),
        admitted_by("local-fallback", at_least=10),
        in_flight_together(at_least=8),
        happened("hold:ok", "confirm:ok"),
        happened("hold:fail:OWNER_LIMIT_REACHED", at_least=50),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=1.0),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=Sale(resources=2, capacity=2_000, owner_limit=2),
    crowd=replace(SCENARIO.crowd, arrivals=burst(50, within=0.5) + steady(rate=20, seconds=20)),
    faults=(
        at(seconds=3, inject=Cut("redis"), heal_after=4),
        at(seconds=12, inject=Cut("redis"), heal_after=4),
    ),
)
