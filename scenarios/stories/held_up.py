"""Time runs out in the queue."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import Latency, at
from checker.assumptions import became, happened, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import EXPIRY, LEDGER, REFUSALS
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="held_up",
    story=(
        "Everybody confirms at the last minute, and the way to the database is slow: whoever confirms keeps the row of "
        "the show locked for a while, and the others wait for it. Some have time left when they come and none when it "
        "is their turn. What counts is the time when it is their turn."
    ),
    sale=Sale(resources=4, capacity=70, hold_seconds=0.6),
    workers={"expiry": 2},
    settings={
        # A sweep comes by twice a second: what is over meanwhile is still there, and looks as if it could be had.
        "RESERVATION_SWEEP_TICK_SECONDS": "0.5",
        # They wait for the row, and not for a connection.
        "RESERVATION_POOL_CONNECTIONS_MAX": "48",
    },
    crowd=Crowd(
        habits={"last_minute": 0.4, "dawdler": 0.6},
        arrivals=burst(30, within=0.3) + steady(rate=60, seconds=3.3),
    ),
    faults=(
        at(seconds=0.1, inject=Latency("pg-a", ms=25), heal_after=2.2),
        at(seconds=0.1, inject=Latency("pg-b", ms=25), heal_after=2.2),
    ),
    invariants=(*LEDGER, *REFUSALS, *EXPIRY),
    assumptions=(
        landed("latency"),
        happened("hold:ok", "confirm:ok"),
        happened("confirm:fail:HOLD_EXPIRED", at_least=5),
        became("holds:EXPIRED", at_least=5),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.5, outside_faults=True),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=600),
    crowd=replace(SCENARIO.crowd, arrivals=burst(40, within=0.4) + steady(rate=60, seconds=24)),
    faults=(
        at(seconds=2, inject=Latency("pg-a", ms=25), heal_after=18),
        at(seconds=2, inject=Latency("pg-b", ms=25), heal_after=18),
    ),
)
