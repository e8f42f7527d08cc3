"""Ten buyers for each last seat, many times over."""

from __future__ import annotations

from dataclasses import replace

from checker.assumptions import contended, happened, in_flight_together, load_healthy, release_skew
from scenarios.arrivals import barrier
from scenarios.promises import SCARCITY, SOLD
from scenarios.scenario import Crowd, Sale, Scenario
from scenarios.thresholds import p99

SCENARIO = Scenario(
    name="last_seat_race",
    story=(
        "One seat is left, and ten people press the button in the same instant, spread over two nodes. "
        "Exactly one of them may get it, nine must be told so, and the ledger must agree. Two hundred times over; "
        "in every other race the buyers also name the revision that was on their screen."
    ),
    sale=Sale(resources=200, capacity=1),
    # Eight races abreast put forty buyers on each node: with a smaller pool they would race for its connections.
    settings={"RESERVATION_POOL_CONNECTIONS_MAX": "48"},
    crowd=Crowd(habits={"racer": 0.5, "careful_racer": 0.5}, arrivals=barrier(200, width=10, abreast=8)),
    invariants=(*SOLD, *SCARCITY),
    assumptions=(
        in_flight_together(at_least=8),
        contended(at_least_share=0.5),
        release_skew(us_p50_max=250),
        happened("hold:ok", "hold:fail:CAPACITY_EXHAUSTED"),
        load_healthy(lag_ms_p99_max=20, dropped_share_max=0),
    ),
    thresholds=(p99("hold", below_seconds=2.0),),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=Sale(resources=2_000, capacity=1),
    crowd=replace(SCENARIO.crowd, arrivals=barrier(2_000, width=10, abreast=8)),
)
