"""Seats come back: late, twice over, and two at a time."""

from __future__ import annotations

from dataclasses import replace

from checker.assumptions import became, contended_by_resource, happened, load_healthy
from scenarios.arrivals import burst, steady
from scenarios.promises import EXPIRY, LEDGER, LINE, SCARCITY
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="change_of_plans",
    story=(
        "Couples take two seats or none, and forget about them; others give a seat back from two tabs at once, a moment "
        "before their time is over or a moment after; and some who waited for a seat do not want it. Each seat may come back "
        "once and no more, both seats of a couple must, and whoever comes too late must not touch what is somebody else's by "
        "then."
    ),
    # An odd number: now and then a single seat is left, and a couple asks for it.
    sale=Sale(resources=3, capacity=15, hold_seconds=0.6, offer_seconds=0.4),
    workers={"expiry": 2, "notifier": 1},
    crowd=Crowd(
        habits={"couple": 0.4, "waverer": 0.3, "waiter": 0.1, "picky": 0.2},
        arrivals=burst(60, within=0.2) + steady(rate=40, seconds=2.2),
    ),
    invariants=(*LEDGER, *SCARCITY, *LINE, *EXPIRY),
    assumptions=(
        contended_by_resource(at_least=1),
        happened(
            "hold:ok",
            "hold:fail:CAPACITY_EXHAUSTED",
            "confirm:ok",
            "cancel:ok",
            "cancel:fail:HOLD_NOT_ACTIVE",
            "accept_offer:ok",
            "decline_offer:ok",
        ),
        became("holds:EXPIRED", at_least=5),
        load_healthy(lag_ms_p99_max=100),
    ),
    thresholds=(p99("cancel", below_seconds=0.5),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    crowd=replace(SCENARIO.crowd, arrivals=burst(150, within=1.0) + steady(rate=60, seconds=20)),
)
