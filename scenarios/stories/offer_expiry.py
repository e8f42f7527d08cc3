"""Time runs out, one seat after the other."""

from __future__ import annotations

from dataclasses import replace

from checker.assumptions import became, happened, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import DELIVERY, EXPIRY, LEDGER, LINE, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="offer_expiry",
    story=(
        "Seats are taken and forgotten, offers are made and not answered. Each ends when its time is over and not "
        "before, goes on to whoever has waited longest, and when the line is empty the seat is free again. Some "
        "confirm or accept a moment before the end, some a moment after it."
    ),
    sale=Sale(resources=2, capacity=16, hold_seconds=0.8, offer_seconds=0.4),
    workers={"expiry": 2, "notifier": 1},
    crowd=Crowd(
        habits={"dawdler": 0.25, "latecomer": 0.5, "waiter": 0.1, "daydreamer": 0.15},
        arrivals=burst(70, within=0.3) + steady(rate=30, seconds=2.5),
    ),
    invariants=(*LEDGER, *SCARCITY, *LINE, *EXPIRY, *DELIVERY),
    assumptions=(
        happened(
            "hold:ok", "hold:fail:CAPACITY_EXHAUSTED", "join_waitlist:ok", "accept_offer:ok", "confirm:ok"
        ),
        happened("confirm:fail", at_least=2),
        became("holds:EXPIRED", "offers:EXPIRED", at_least=5),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=40),
    crowd=replace(SCENARIO.crowd, arrivals=burst(100, within=0.5) + steady(rate=40, seconds=20)),
)
