"""The messenger dies after delivering, before writing it down."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import ProviderFault, at
from checker.assumptions import became, happened, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import DELIVERY, LEDGER, LINE, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="worker_crash",
    story=(
        "A notifier has sent a notice, the provider has taken it, and in that instant the notifier is killed: "
        "nobody has written down that it was delivered. Another must send it again, under the same id, and whoever "
        "receives it must be able to tell."
    ),
    sale=Sale(resources=3, capacity=6, lease_seconds=1.5),
    workers={"notifier": 2},
    crowd=Crowd(
        habits={"fickle": 0.65, "waiter": 0.3, "eager": 0.05},
        arrivals=burst(40, within=0.3) + steady(rate=30, seconds=1.7),
    ),
    faults=(at(seconds=0.2, inject=ProviderFault("notification", "kill_caller", times=1), heal_after=2.0),),
    invariants=(*LEDGER, *SCARCITY, *LINE, *DELIVERY),
    assumptions=(
        landed("provider"),
        happened("join_waitlist:ok", "accept_offer:ok"),
        became("outbox:DELIVERED", at_least=3),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("accept_offer", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=30),
    crowd=replace(SCENARIO.crowd, arrivals=burst(100, within=0.5) + steady(rate=40, seconds=20)),
    faults=(at(seconds=3, inject=ProviderFault("notification", "kill_caller", times=3), heal_after=8),),
)
