"""The database is killed."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from chaos.faults import Crash, at
from checker.assumptions import happened, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import LEDGER
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99, recovers

# Faster than it can be served, so that there are commits under way when they are killed.
RUSH: Final = burst(60, within=0.1)

SCENARIO = Scenario(
    name="database_crash",
    story=(
        "All processes of PostgreSQL are killed at once, with transactions open and commits under way, and it "
        "recovers on the same data. Whatever anybody was told had happened must be there afterwards; whatever was "
        "told to be unknown must be one or the other, and not half."
    ),
    sale=Sale(resources=3, capacity=40, lease_seconds=3.0),
    crowd=Crowd(
        habits={"retrier": 0.6, "eager": 0.2, "canceller": 0.2},
        arrivals=burst(30, within=0.3) + RUSH.after(0.85) + steady(rate=50, seconds=3.3),
    ),
    faults=(at(seconds=1.0, inject=Crash("postgres"), heal_after=0.4),),
    invariants=(*LEDGER, "transient_answers_are_not_pinned"),
    assumptions=(
        landed("crash"),
        happened("hold:ok", "hold:info", "confirm:ok"),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(
        p99("hold", below_seconds=0.5, outside_faults=True),
        recovers("hold", within_seconds=2.0),
    ),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=600),
    crowd=replace(
        SCENARIO.crowd, arrivals=steady(rate=80, seconds=24) + RUSH.after(3.85) + RUSH.after(13.85)
    ),
    faults=tuple(at(seconds=start, inject=Crash("postgres"), heal_after=1.0) for start in (4, 14)),
)
