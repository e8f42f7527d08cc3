"""Hands that reach for what is not theirs."""

from __future__ import annotations

from dataclasses import replace

from checker.assumptions import happened, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import LEDGER, LINE, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="stolen_offer",
    story=(
        "Ids can be guessed. Strangers confirm and cancel holds, also in the owner's name, leave the line in somebody's place, accept and decline "
        "offers that were made to another. Each of them must be turned away, and the owner must find everything untouched."
    ),
    sale=Sale(resources=3, capacity=10),
    workers={"notifier": 1},
    crowd=Crowd(
        habits={"impostor": 0.45, "fickle": 0.45, "waiter": 0.1},
        arrivals=burst(50, within=0.3) + steady(rate=40, seconds=1.8),
    ),
    invariants=(*LEDGER, *SCARCITY, *LINE),
    assumptions=(
        happened(
            "confirm:fail:OWNER_MISMATCH",
            "cancel:fail:OWNER_MISMATCH",
            "leave_waitlist:fail:OWNER_MISMATCH",
            "accept_offer:fail:OWNER_MISMATCH",
            "decline_offer:fail:OWNER_MISMATCH",
            "confirm:ok",
            "accept_offer:ok",
        ),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("accept_offer", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=replace(SCENARIO.sale, capacity=30),
    crowd=replace(SCENARIO.crowd, arrivals=burst(100, within=0.5) + steady(rate=60, seconds=20)),
)
