"""A node dies with work in its hands."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from chaos.faults import Kill, Latency, at
from checker.assumptions import happened, in_flight_together, landed, load_healthy, taken_over
from scenarios.arrivals import burst, steady
from scenarios.promises import ADVICE, KEYS, LEDGER, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99, recovers

# The first have their seats when the way to the database becomes slow, and confirm them over it; the last ask for seats when
# the node is killed. So both are in its hands.
RUSH: Final = burst(80, within=0.15) + burst(40, within=0.1).after(0.35)

SCENARIO = Scenario(
    name="node_kill",
    story=(
        "A node whose way to the database is slow is killed, with commands claimed and not finished, and connections "
        "open. People ask again at the other node under the same key. What was done is told, what was claimed and not "
        "done is taken over once the claim has run out, and nothing happens twice."
    ),
    sale=Sale(resources=3, capacity=60, lease_seconds=2.0),
    # With fewer connections commands would wait for one, and few have claimed anything when the node is killed.
    settings={
        "RESERVATION_REDIS_PERMIT_LEASE_MS": "1000",
        "RESERVATION_POOL_CONNECTIONS_MIN": "32",
        "RESERVATION_POOL_CONNECTIONS_MAX": "32",
    },
    crowd=Crowd(
        # The insistent ask again until the claims of the dead have run out.
        habits={"insistent": 0.5, "retrier": 0.2, "twin_clicker": 0.3},
        arrivals=steady(rate=40, seconds=2.5) + RUSH.after(0.15),
    ),
    faults=(
        at(seconds=0.35, inject=Latency("pg-a", ms=100), heal_after=0.5),
        at(seconds=0.6, inject=Kill("node-a"), heal_after=0.8),
    ),
    invariants=(*LEDGER, *ADVICE, *SCARCITY, *KEYS),
    assumptions=(
        landed("latency", "kill"),
        taken_over(at_least=1),
        in_flight_together(at_least=2),
        happened("hold:ok", "hold:info", "confirm:ok"),
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
    sale=replace(SCENARIO.sale, capacity=400),
    crowd=replace(
        SCENARIO.crowd,
        arrivals=steady(rate=60, seconds=24) + RUSH.after(2.55) + RUSH.after(8.55) + RUSH.after(14.55),
    ),
    faults=tuple(
        fault
        for start, node, way in ((3, "node-a", "pg-a"), (9, "node-b", "pg-b"), (15, "node-a", "pg-a"))
        for fault in (
            at(seconds=start - 0.25, inject=Latency(way, ms=100), heal_after=0.5),
            at(seconds=start, inject=Kill(node), heal_after=1.5),
        )
    ),
)
