"""Two seats a head, and bots with many hands."""

from __future__ import annotations

from dataclasses import replace

from checker.assumptions import contended_by_resource, happened, in_flight_together, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import LEDGER, REFUSALS
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="limit_bypass",
    story=(
        "Nobody may have more than two seats. Bots ask for eight in the same instant, spread over both nodes, each under "
        "a key of its own, so that every one of them could believe itself to be the first. There are seats for all: only "
        "the limit can refuse."
    ),
    sale=Sale(resources=2, capacity=200, owner_limit=2),
    # Whoever comes is drawn from as many people as there are arrivals: some come twice.
    crowd=Crowd(
        habits={"bot": 0.6, "twin_clicker": 0.2, "eager": 0.2},
        arrivals=burst(16, within=0.2) + steady(rate=14, seconds=2.0),
    ),
    invariants=(*LEDGER, *REFUSALS, "limits_hold"),
    assumptions=(
        in_flight_together(at_least=8),
        contended_by_resource(at_least=3),
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
)
