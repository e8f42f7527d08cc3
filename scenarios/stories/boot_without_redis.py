"""Starting up while Redis is away."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import Cut, Restart, at
from checker.assumptions import admitted_by, happened, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import ADVICE, ADVICE_AGAIN, LEDGER, REFUSALS
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99, recovers

SCENARIO = Scenario(
    name="boot_without_redis",
    story=(
        "Redis is away, and both nodes are started anew, one after the other. They must come up without it and "
        "sell seats as before; and when Redis is back they must find it by themselves."
    ),
    sale=Sale(resources=4, capacity=25),
    settings={"RESERVATION_REDIS_PERMIT_LEASE_MS": "1000"},
    crowd=Crowd(
        habits={"retrier": 0.5, "eager": 0.5}, arrivals=burst(30, within=0.3) + steady(rate=60, seconds=4.6)
    ),
    faults=(
        at(seconds=0.1, inject=Cut("redis"), heal_after=2.3),
        at(seconds=0.2, inject=Restart("node-a")),
        at(seconds=1.3, inject=Restart("node-b")),
    ),
    invariants=(*LEDGER, *ADVICE, *ADVICE_AGAIN, *REFUSALS),
    assumptions=(
        landed("cut", "restart"),
        admitted_by("local-fallback", at_least=5),
        happened("hold:ok", "hold:fail", "confirm:ok"),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(
        p99("hold", below_seconds=0.5, outside_faults=True),
        recovers("hold", within_seconds=0.5),
    ),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=300),
    crowd=replace(SCENARIO.crowd, arrivals=steady(rate=80, seconds=24)),
    faults=(
        at(seconds=2, inject=Cut("redis"), heal_after=16),
        at(seconds=4, inject=Restart("node-a")),
        at(seconds=10, inject=Restart("node-b")),
    ),
)
