"""The answer is lost, and the question is asked again."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import LostReply, every
from checker.assumptions import committed_unknown, happened, in_flight_together, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import KEYS, LEDGER, RECOVERY, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99, recovers

SCENARIO = Scenario(
    name="timeout_retry",
    story=(
        "Requests arrive, the work is done, and the answer never comes. People ask again under the same key, at the other "
        "node; others had pressed twice to begin with; a few use an old key for a new wish, or a key that is another's. "
        "However often a key is sent there is one seat, one answer told again byte for byte, and a clear no to whoever means "
        "something else, or is somebody else. Whoever still carries a command out is waited for; that it passes on when he "
        "is dead is told in orphaned_claim and node_kill."
    ),
    sale=Sale(resources=3, capacity=30),
    crowd=Crowd(
        habits={"retrier": 0.42, "twin_clicker": 0.35, "double_clicker": 0.15, "namesake": 0.08},
        arrivals=burst(30, within=0.1) + steady(rate=40, seconds=3.4),
    ),
    faults=every(seconds=1.2, first=0.4, until=2.5, inject=LostReply("edge"), heal_after=0.6),
    invariants=(*LEDGER, *SCARCITY, *KEYS, *RECOVERY, "reused_key_conflicts"),
    assumptions=(
        landed("lost_reply"),
        committed_unknown(at_least=5),
        in_flight_together(at_least=4),
        happened(
            "hold:ok",
            "hold:info",
            "hold:fail:IDEMPOTENCY_IN_PROGRESS",
            "hold:fail:IDEMPOTENCY_FINGERPRINT_CONFLICT",
            "confirm:ok",
            "confirm:info",
        ),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.5, outside_faults=True), recovers("hold", within_seconds=0.5)),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=Sale(resources=4, capacity=300),
    crowd=replace(SCENARIO.crowd, arrivals=burst(200, within=1.0) + steady(rate=80, seconds=24)),
    faults=every(seconds=3.0, first=1.0, until=22.0, inject=LostReply("edge"), heal_after=1.0),
)
