"""A leader who does not know that it has been deposed."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import Pause, at
from checker.assumptions import became, happened, landed, led, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import EXPIRY, LEDGER, LINE, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="leader_pause",
    story=(
        "The leading sweeper stops in the middle of whatever it does, for longer than its lease. Another is "
        "elected and carries on; then the first wakes up and believes that it still leads. Nothing that it does "
        "from then on may count."
    ),
    sale=Sale(resources=3, capacity=12, hold_seconds=0.8, offer_seconds=0.4, lease_seconds=1.2),
    workers={"expiry": 2, "notifier": 1},
    crowd=Crowd(
        habits={"dawdler": 0.45, "latecomer": 0.4, "waiter": 0.15},
        arrivals=burst(40, within=0.3) + steady(rate=25, seconds=3.2),
    ),
    faults=(at(seconds=0.6, inject=Pause("leader"), heal_after=2.2),),
    invariants=(*LEDGER, *SCARCITY, *LINE, *EXPIRY),
    assumptions=(
        landed("pause"),
        led(at_least=2),
        happened("hold:ok", "join_waitlist:ok"),
        became("holds:EXPIRED", at_least=5),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("hold", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    crowd=replace(SCENARIO.crowd, arrivals=burst(100, within=0.5) + steady(rate=40, seconds=24)),
    faults=tuple(at(seconds=start, inject=Pause("leader"), heal_after=2.5) for start in (2, 8, 14, 20)),
)
