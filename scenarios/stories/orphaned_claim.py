"""A node dies between its word and its deed."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import CrashAt, throughout
from checker.assumptions import happened, landed, load_healthy, taken_over
from scenarios.arrivals import burst, steady
from scenarios.promises import KEYS, LEDGER_WHILE_BROKEN
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="orphaned_claim",
    story=(
        "A node writes down that it will carry a command out, and dies before it begins. People ask again at the other "
        "node under the same key. For a while they are told to wait, since somebody might still be at it; then the "
        "claim has run out, the other node takes it over, and what was wanted happens once."
    ),
    sale=Sale(resources=3, capacity=60, lease_seconds=1.0),
    # The permits in its hands when it dies are out for a second, and not for ten.
    settings={"RESERVATION_REDIS_PERMIT_LEASE_MS": "1000"},
    # Who asks until the claim has run out. In the burst a node has many claims in its hands when it dies of one of them.
    crowd=Crowd(
        habits={"insistent": 1.0}, arrivals=steady(rate=40, seconds=2.5) + burst(60, within=0.05).after(0.4)
    ),
    # Its first claims are the organiser's, who puts the shows on sale. It dies soon and stays away to the end.
    faults=(throughout(inject=CrashAt("node-a", "service.reservation.once:_carry_out:before:25")),),
    invariants=(*LEDGER_WHILE_BROKEN, *KEYS),
    assumptions=(
        landed("crash_at"),
        taken_over(at_least=1),
        happened("hold:ok", "confirm:info", "confirm:fail:IDEMPOTENCY_IN_PROGRESS", "confirm:ok"),
        load_healthy(lag_ms_p99_max=100),
    ),
    # The fault is there from the beginning to the end: outside it there would be nothing to measure.
    thresholds=(p99("confirm", below_seconds=1.0),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=600),
    crowd=replace(SCENARIO.crowd, arrivals=steady(rate=80, seconds=24) + burst(100, within=0.05).after(4.6)),
    faults=(throughout(inject=CrashAt("node-a", "service.reservation.once:_carry_out:before:200")),),
)
