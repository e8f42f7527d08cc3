"""Every clock tells another time."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import Clock, throughout
from checker.assumptions import became, happened, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import EXPIRY, LEDGER, LINE, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="clock_skew",
    story=(
        "One node believes that it is an hour later, one sweeper that it is an hour earlier. A hold lives as long "
        "as the database says, to the moment: nobody loses a seat before its time, and nobody keeps one after it."
    ),
    sale=Sale(resources=3, capacity=12, hold_seconds=0.8, offer_seconds=0.4),
    workers={"expiry": 2, "notifier": 1},
    crowd=Crowd(
        habits={"dawdler": 0.2, "latecomer": 0.5, "waiter": 0.3},
        arrivals=burst(40, within=0.3) + steady(rate=25, seconds=2.5),
    ),
    faults=(throughout(inject=Clock("node-b", +3_600)), throughout(inject=Clock("worker-expiry-1", -3_600))),
    invariants=(*LEDGER, *SCARCITY, *LINE, *EXPIRY),
    assumptions=(
        landed("clock"),
        happened("hold:ok", "confirm:ok", "accept_offer:ok"),
        happened("confirm:fail", at_least=2),
        became("holds:EXPIRED", at_least=5),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=20),
    crowd=replace(SCENARIO.crowd, arrivals=burst(100, within=0.5) + steady(rate=40, seconds=20)),
)
