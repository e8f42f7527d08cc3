"""Everything that hands a seat over, all at once."""

from __future__ import annotations

from dataclasses import replace

from checker.assumptions import contended_by_resource, happened, in_flight_together, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import LEDGER, LINE, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="lock_order",
    story=(
        "Holding, confirming, cancelling, joining, leaving, accepting, declining: each takes several locks, and all of it "
        "happens to three resources at the same time, until some of them are closed and late seats come back to nobody. "
        "Where two of them took their locks in different orders they would wait for each other; there is one order, and "
        "nobody may be told that the database was busy."
    ),
    sale=Sale(resources=3, capacity=8),
    workers={"notifier": 1},
    crowd=Crowd(
        habits={
            "fickle": 0.46,
            "canceller": 0.24,
            "repenter": 0.18,
            "twin_clicker": 0.06,
            "waiter": 0.02,
            "organiser": 0.04,
        },
        arrivals=burst(90, within=0.2) + steady(rate=50, seconds=2.0),
    ),
    invariants=(*LEDGER, *SCARCITY, *LINE, "offers_only_while_open"),
    assumptions=(
        in_flight_together(at_least=10),
        contended_by_resource(at_least=8),
        happened(
            "confirm:ok",
            "cancel:ok",
            "join_waitlist:ok",
            "leave_waitlist:ok",
            "accept_offer:ok",
            "decline_offer:ok",
            "cancel_reservation:ok",
            "close:ok",
        ),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("cancel_reservation", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    # So few are closed that something is on sale to the end.
    sale=replace(SCENARIO.sale, resources=12),
    crowd=replace(
        SCENARIO.crowd,
        habits={**SCENARIO.crowd.habits, "waiter": 0.055, "organiser": 0.005},
        arrivals=sum(
            (burst(60, within=0.2).after(start) for start in range(0, 20, 4)), steady(rate=60, seconds=20)
        ),
    ),
)
