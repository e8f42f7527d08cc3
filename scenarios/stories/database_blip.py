"""Nobody knows whether it happened."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import LostReply, every
from checker.assumptions import committed_unknown, happened, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import KEYS, LEDGER, RECOVERY, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99, recovers

SCENARIO = Scenario(
    name="database_blip",
    story=(
        "Statements arrive at the database and are carried out, and the answer never comes back to the node: "
        "whether a COMMIT happened, nobody knows. The node must say just that, and never guess. Asked again under "
        "the same key, the record settles it."
    ),
    sale=Sale(resources=3, capacity=30, lease_seconds=3.0),
    crowd=Crowd(
        habits={"retrier": 0.8, "double_clicker": 0.2},
        arrivals=burst(20, within=0.3) + steady(rate=40, seconds=3.5),
    ),
    faults=every(seconds=1.2, first=0.5, until=2.0, inject=LostReply("pg"), heal_after=0.5),
    invariants=(*LEDGER, *SCARCITY, *KEYS, *RECOVERY),
    assumptions=(
        landed("lost_reply"),
        committed_unknown(at_least=1),
        happened("hold:ok", "hold:info:OUTCOME_UNKNOWN", "confirm:ok"),
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
    sale=replace(SCENARIO.sale, capacity=350),
    crowd=replace(SCENARIO.crowd, arrivals=steady(rate=80, seconds=24)),
    faults=every(seconds=3.0, first=1.0, until=22.0, inject=LostReply("pg"), heal_after=0.8),
)
