"""A sweeper dies in the middle of a handover."""

from __future__ import annotations

from dataclasses import replace

from chaos.faults import CrashAt, throughout
from checker.assumptions import became, happened, landed, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import DELIVERY, EXPIRY, LEDGER, LINE, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="torn_handover",
    story=(
        "A sweeper has ended an offer, has made the next one and has put the notice of it in the outbox; and in that "
        "instant it dies, with nothing committed. Nobody may be told of an offer that was never made. The number that "
        "the notice had is lost for ever, and whatever comes after it must be sent all the same."
    ),
    sale=Sale(resources=3, capacity=6, hold_seconds=1.0, offer_seconds=0.3, lease_seconds=1.5),
    # Both sweepers die so, the second once it has taken over; they are started again after the rush.
    workers={"notifier": 2, "expiry": 2},
    crowd=Crowd(
        habits={"fickle": 0.5, "waiter": 0.25, "dawdler": 0.25},
        arrivals=burst(40, within=0.3) + steady(rate=25, seconds=2.0),
    ),
    faults=(throughout(inject=CrashAt("worker-expiry", "service.reservation.outbox:enqueue:after:2")),),
    invariants=(*LEDGER, *SCARCITY, *LINE, *EXPIRY, *DELIVERY),
    assumptions=(
        landed("crash_at"),
        happened("join_waitlist:ok", "accept_offer:ok"),
        became("offers:EXPIRED", at_least=3),
        became("outbox:DELIVERED", at_least=5),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("accept_offer", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    crowd=replace(SCENARIO.crowd, arrivals=burst(100, within=0.5) + steady(rate=40, seconds=20)),
)
