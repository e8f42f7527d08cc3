"""A node dies with work in its hands."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from chaos.faults import Kill, at
from checker.assumptions import happened, in_flight_together, landed, load_healthy, taken_over
from scenarios.arrivals import burst, steady
from scenarios.promises import ADVICE, KEYS, LEDGER, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99, recovers

# Faster than a node can answer, so that holds and confirmations are in its hands when it is killed.
RUSH: Final = burst(120, within=0.12)

SCENARIO = Scenario(
    name="node_kill",
    story=(
        "A node is killed, with commands claimed and not finished, and connections open. People ask again at the "
        "other node under the same key. What was done is told, what was claimed and not done is taken over once "
        "the claim has run out, and nothing happens twice."
    ),
    sale=Sale(resources=3, capacity=60, lease_seconds=1.5),
    settings={"RESERVATION_REDIS_PERMIT_LEASE_MS": "1000"},
    crowd=Crowd(
        # The insistent ask again until the claims of the dead have run out.
        habits={"insistent": 0.5, "retrier": 0.2, "twin_clicker": 0.3},
        arrivals=steady(rate=40, seconds=2.5) + RUSH.after(0.5),
    ),
    faults=(at(seconds=0.6, inject=Kill("node-a"), heal_after=0.8),),
    invariants=(*LEDGER, *ADVICE, *SCARCITY, *KEYS),
    assumptions=(
        landed("kill"),
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
        arrivals=steady(rate=80, seconds=24) + RUSH.after(2.9) + RUSH.after(8.9) + RUSH.after(14.9),
    ),
    faults=tuple(
        at(seconds=start, inject=Kill(node), heal_after=1.5)
        for start, node in ((3, "node-a"), (9, "node-b"), (15, "node-a"))
    ),
)
