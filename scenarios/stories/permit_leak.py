"""Permits of the dead."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from chaos.faults import Kill, Latency, at
from checker.assumptions import happened, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import ADVICE, KEYS, LEDGER, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99, recovers

# The second burst is faster than a node can answer, the more so over a slow link: permits are in its hands when it is killed.
RUSH: Final = burst(20, within=0.12) + burst(60, within=0.06).after(0.12)

SCENARIO = Scenario(
    name="permit_leak",
    story=(
        "There are eight permits for the whole house, and a node whose way to the database is slow is killed while it "
        "holds some of them. They are leased: within half a second they are back by themselves, and nobody is turned away for the sake of the "
        "dead."
    ),
    sale=Sale(resources=3, capacity=30, lease_seconds=1.5),
    settings={"RESERVATION_REDIS_PERMITS": "8", "RESERVATION_REDIS_PERMIT_LEASE_MS": "500"},
    crowd=Crowd(
        habits={"retrier": 0.6, "twin_clicker": 0.4},
        # A second of it comes after everything is healed: nothing excuses a failure then.
        arrivals=RUSH + steady(rate=50, seconds=3.3),
    ),
    faults=(
        at(seconds=0.02, inject=Latency("pg-a", ms=40), heal_after=0.9),
        at(seconds=0.2, inject=Kill("node-a"), heal_after=0.8),
    ),
    invariants=(*LEDGER, *ADVICE, *SCARCITY, *KEYS),
    assumptions=(
        landed("latency", "kill"),
        happened("hold:ok", "hold:fail:ADMISSION_REFUSED", "confirm:ok"),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(
        p99("hold", below_seconds=0.5, outside_faults=True),
        recovers("hold", within_seconds=1.0),
    ),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=400),
    crowd=replace(
        SCENARIO.crowd,
        arrivals=steady(rate=80, seconds=24) + RUSH.after(3) + RUSH.after(9) + RUSH.after(15),
    ),
    faults=tuple(
        fault
        for start in (3, 9, 15)
        for fault in (
            at(seconds=start + 0.02, inject=Latency("pg-a", ms=40), heal_after=0.9),
            at(seconds=start + 0.2, inject=Kill("node-a"), heal_after=1.0),
        )
    ),
)
