"""A message that nobody will take."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import ProviderFault, at
from checker.assumptions import became, happened, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import DELIVERY, LEDGER, LINE, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="poison_delivery",
    story=(
        "The provider refuses three notices, and will refuse them for ever. They are tried again, later and later, "
        "a bounded number of times, then given up and kept; and not one of the others waits behind them."
    ),
    sale=Sale(resources=3, capacity=6, lease_seconds=1.5),
    workers={"notifier": 2},
    crowd=Crowd(
        habits={"fickle": 0.65, "waiter": 0.3, "eager": 0.05},
        arrivals=burst(40, within=0.3) + steady(rate=30, seconds=1.7),
    ),
    faults=(at(seconds=0.2, inject=ProviderFault("notification", "refuse", times=3), heal_after=1.3),),
    invariants=(*LEDGER, *SCARCITY, *LINE, *DELIVERY),
    assumptions=(
        landed("provider"),
        happened("join_waitlist:ok", "accept_offer:ok"),
        became("outbox:EXHAUSTED", at_least=3),
        became("outbox:DELIVERED"),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("accept_offer", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=30),
    crowd=replace(SCENARIO.crowd, arrivals=burst(100, within=0.5) + steady(rate=40, seconds=20)),
    faults=(at(seconds=3, inject=ProviderFault("notification", "refuse", times=20), heal_after=8),),
)
