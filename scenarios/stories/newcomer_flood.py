"""A line, and a flood of people who do not stand in it."""

from __future__ import annotations

from dataclasses import replace

from checker.assumptions import contended_by_resource, happened, in_flight_together, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import LEDGER, LINE, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="newcomer_flood",
    story=(
        "The house is full, people wait in line, and now and then somebody gives a seat back. At that moment newcomers "
        "press the button, again and again. A seat that comes free belongs to whoever has waited longest: no newcomer "
        "may overtake the line, and no free seat may lie there while somebody waits."
    ),
    sale=Sale(resources=3, capacity=8),
    workers={"notifier": 1},
    crowd=Crowd(
        habits={"fickle": 0.3, "waiter": 0.3, "newcomer": 0.4},
        arrivals=burst(80, within=0.3) + steady(rate=60, seconds=1.7),
    ),
    invariants=(*LEDGER, *SCARCITY, *LINE),
    assumptions=(
        in_flight_together(at_least=8),
        contended_by_resource(at_least=8),
        happened(
            "hold:ok",
            "hold:fail:CAPACITY_EXHAUSTED",
            "join_waitlist:ok",
            "cancel_reservation:ok",
            "accept_offer:ok",
        ),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=60),
    crowd=replace(SCENARIO.crowd, arrivals=burst(200, within=0.5) + steady(rate=80, seconds=20)),
)
