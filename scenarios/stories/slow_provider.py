"""The other end takes its time."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import ProviderFault, at
from checker.assumptions import became, claimed_beside, happened, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import DELIVERY, LEDGER, LINE, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="slow_provider",
    story=(
        "The provider takes every notice and says so a quarter of a second later. There are two notifiers, and both look "
        "for work all the time: what one of them is sending the other must leave alone, for as long as that may take. "
        "Selling seats waits for neither."
    ),
    # Few seats, which go from hand to hand: there is something to tell to the end.
    sale=Sale(resources=3, capacity=3, lease_seconds=1.5),
    workers={"notifier": 2},
    crowd=Crowd(
        habits={"fickle": 0.97, "waiter": 0.03},
        arrivals=burst(40, within=0.3) + steady(rate=30, seconds=1.7),
    ),
    faults=(at(seconds=0.2, inject=ProviderFault("notification", "late", by_ms=250), heal_after=2.0),),
    invariants=(*LEDGER, *SCARCITY, *LINE, *DELIVERY),
    assumptions=(
        landed("provider"),
        claimed_beside(at_least=1),
        happened("join_waitlist:ok", "accept_offer:ok"),
        became("outbox:DELIVERED", at_least=5),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("accept_offer", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    crowd=replace(SCENARIO.crowd, arrivals=burst(100, within=0.5) + steady(rate=40, seconds=20)),
    faults=(at(seconds=1, inject=ProviderFault("notification", "late", by_ms=250), heal_after=16),),
)
