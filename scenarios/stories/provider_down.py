"""Nobody answers at the other end."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import ProviderFault, at
from checker.assumptions import became, happened, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import DELIVERY, LEDGER, LINE, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="provider_down",
    story=(
        "The provider of notices is down for longer than anybody tries. What was due early is given up after its "
        "last attempt and kept as such; what comes later is delivered once the provider is back. Selling seats "
        "goes on throughout."
    ),
    sale=Sale(resources=3, capacity=4, lease_seconds=3.0, hold_seconds=1.0, offer_seconds=0.5),
    # Dawdlers let their holds and offers lapse, so that there is something to tell all the time.
    workers={"notifier": 2, "expiry": 1},
    # Five attempts are over within a second.
    settings={"RESERVATION_NOTIFICATION_RETRY_MAX_SECONDS": "0.2"},
    crowd=Crowd(
        habits={"fickle": 0.5, "waiter": 0.02, "dawdler": 0.48},
        # Half a second of buyers comes after the provider is back, on however quick a machine.
        arrivals=burst(36, within=0.3) + steady(rate=20, seconds=3.1),
    ),
    faults=(at(seconds=0.2, inject=ProviderFault("notification", "down"), heal_after=2.4),),
    invariants=(*LEDGER, *SCARCITY, *LINE, *DELIVERY),
    assumptions=(
        landed("provider"),
        happened("join_waitlist:ok", "accept_offer:ok"),
        became("outbox:EXHAUSTED", "outbox:DELIVERED"),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("accept_offer", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=6),
    crowd=replace(SCENARIO.crowd, arrivals=burst(100, within=0.5) + steady(rate=40, seconds=20)),
    faults=(at(seconds=3, inject=ProviderFault("notification", "down"), heal_after=10),),
)
