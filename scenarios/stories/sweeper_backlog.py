"""A pile of work, and nobody at it."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import Kill, at
from checker.assumptions import became, happened, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import EXPIRY, LEDGER, REFUSALS
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="sweeper_backlog",
    story=(
        "For a second nobody sweeps, while the holds of sixty resources run out. When the sweepers come back the "
        "pile is larger than one sweep may take on; it must shrink in bounded steps, and nobody may be able to use "
        "what has expired meanwhile."
    ),
    sale=Sale(resources=60, capacity=2, hold_seconds=0.6, offer_seconds=0.4, lease_seconds=1.5),
    # Whoever finds no seat stands in line, and a notice that nobody delivers is something left behind.
    workers={"expiry": 2, "notifier": 1},
    crowd=Crowd(
        habits={"dawdler": 0.6, "latecomer": 0.4},
        arrivals=burst(150, within=0.8) + steady(rate=20, seconds=2.2),
    ),
    faults=(at(seconds=0.1, inject=Kill("worker-expiry"), heal_after=1.5),),
    invariants=(*LEDGER, *REFUSALS, *EXPIRY),
    assumptions=(
        landed("kill"),
        happened("hold:ok", "confirm:ok"),
        happened("confirm:fail:HOLD_EXPIRED", at_least=3),
        became("holds:EXPIRED", at_least=40),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, resources=600),
    crowd=replace(SCENARIO.crowd, arrivals=burst(1_200, within=4.0) + steady(rate=40, seconds=20)),
    faults=(at(seconds=0.5, inject=Kill("worker-expiry"), heal_after=8),),
)
