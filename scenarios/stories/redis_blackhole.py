"""Redis stays, and says nothing."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import Blackhole, at
from checker.assumptions import admitted_by, happened, in_flight_together, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import ADVICE, ADVICE_AGAIN, LEDGER, RECOVERY, SCARCITY, WITHOUT_ADVICE
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99, recovers

SCENARIO = Scenario(
    name="redis_blackhole",
    story=(
        "Connections to Redis stay open, and no byte comes back. Whoever waits for it without a limit hangs with it. Each "
        "question may cost a tenth of a second, then the breaker opens and nobody asks any more."
    ),
    sale=Sale(resources=4, capacity=60),
    # A permit that nobody could give back is out for a second, and not for ten.
    settings={"RESERVATION_REDIS_PERMIT_LEASE_MS": "1000"},
    crowd=Crowd(
        habits={"eager": 0.7, "double_clicker": 0.2, "canceller": 0.1},
        arrivals=burst(40, within=0.3) + steady(rate=70, seconds=4.8),
    ),
    faults=(at(seconds=0.4, inject=Blackhole("redis"), heal_after=0.6),),
    invariants=(
        *LEDGER,
        *ADVICE,
        *SCARCITY,
        *WITHOUT_ADVICE,
        *ADVICE_AGAIN,
        *RECOVERY,
        "replay_is_identical",
    ),
    assumptions=(
        landed("redis"),
        admitted_by("local-fallback", at_least=10),
        in_flight_together(at_least=4),
        happened("hold:ok", "hold:fail:CAPACITY_EXHAUSTED", "confirm:ok"),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.8), recovers("hold", within_seconds=1.0)),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=Sale(resources=4, capacity=800),
    crowd=replace(SCENARIO.crowd, arrivals=burst(300, within=2.0) + steady(rate=200, seconds=24)),
    faults=(at(seconds=5, inject=Blackhole("redis"), heal_after=10),),
)
