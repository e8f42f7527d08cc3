"""Everybody wants the same thing."""

from __future__ import annotations

from dataclasses import replace

from checker.assumptions import contended_by_resource, happened, in_flight_together, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import LEDGER, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="hot_row_stampede",
    story=(
        "One show, sixty seats, and everybody at the door in the same half second. All of them queue for one row of "
        "one table. Some confirm, some change their minds; whoever is refused must be refused for a reason."
    ),
    sale=Sale(resources=1, capacity=60),
    crowd=Crowd(
        habits={"eager": 0.4, "canceller": 0.3, "double_clicker": 0.1, "racer": 0.2},
        arrivals=burst(220, within=0.45) + steady(rate=50, seconds=2.5),
    ),
    invariants=(*LEDGER, *SCARCITY, "replay_is_identical", "seats_linearize_without_trail"),
    assumptions=(
        in_flight_together(at_least=30),
        contended_by_resource(at_least=10),
        happened("hold:ok", "hold:fail:CAPACITY_EXHAUSTED", "confirm:ok", "cancel:ok"),
        # Two hundred new connections in an instant cost the load generator time, too.
        load_healthy(lag_ms_p99_max=150),
    ),
    thresholds=(p99("hold", below_seconds=1.0),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    story=(
        "One show, a thousand seats, and fifteen hundred people within five seconds. All of them queue for one row of one "
        "table. Some confirm, some change their minds; whoever is refused must be refused for a reason."
    ),
    sale=Sale(resources=1, capacity=1_000),
    # Of so many who overlap there are more orders than the search without a trail can go through.
    invariants=tuple(name for name in SCENARIO.invariants if name != "seats_linearize_without_trail"),
    crowd=replace(SCENARIO.crowd, arrivals=burst(1_500, within=5.0) + steady(rate=100, seconds=20)),
)
