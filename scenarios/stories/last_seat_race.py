"""Ten buyers for each last seat, many times over."""

from __future__ import annotations

from dataclasses import replace

from checker.brief import Assumption
from scenarios.arrivals import barrier
from scenarios.scenario import Crowd, Sale, Scenario

SCENARIO = Scenario(
    name="last_seat_race",
    story=(
        "One seat is left, and ten people press the button in the same instant, spread over two nodes. "
        "Exactly one of them may get it, nine must be told so, and the ledger must agree. Two hundred times over; "
        "in every other race the buyers also name the revision that was on their screen."
    ),
    sale=Sale(resources=200, capacity=1),
    crowd=Crowd(habits={"racer": 0.5, "careful_racer": 0.5}, arrivals=barrier(200, width=10)),
    invariants=(
        "never_oversold",
        "occupancy_matches_claims",
        "acknowledged_is_persisted",
        "nothing_unattempted_exists",
        "one_effect_per_key",
        "sold_out_is_true",
    ),
    assumptions=(
        Assumption(name="in_flight_together", kind="vacuity", parameters={"at_least": 8}),
        Assumption(name="contended", kind="vacuity", parameters={"at_least_share": 0.5}),
        Assumption(name="release_skew", kind="vacuity", parameters={"us_p50_max": 500}),
        Assumption(name="happened", kind="vacuity", parameters={"operations": "hold:ok hold:fail"}),
        Assumption(name="load_healthy", kind="vacuity"),
    ),
)

FULL = replace(
    SCENARIO,
    profile="full",
    sale=Sale(resources=2_000, capacity=1),
    crowd=replace(SCENARIO.crowd, arrivals=barrier(2_000, width=10)),
)
