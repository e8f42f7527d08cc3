"""Assumptions: what must have occurred, or must hold, before a judgement counts; scenarios name them by these functions."""

from __future__ import annotations

from checker.assumptions.admission import admitted_by
from checker.assumptions.contention import contended_by_resource
from checker.assumptions.events import happened, landed
from checker.assumptions.holders import claimed_beside, led, taken_over
from checker.assumptions.load import load_healthy, release_skew
from checker.assumptions.overlap import contended, in_flight_together
from checker.assumptions.parameters import refusals
from checker.assumptions.processors import processors_free
from checker.assumptions.registry import always, names, premise
from checker.assumptions.rows import became
from checker.assumptions.soundness import clocks_comparable, history_complete, trail_complete
from checker.assumptions.unknown import committed_unknown
from checker.assumptions.words import states_known

__all__ = [
    "admitted_by",
    "always",
    "became",
    "claimed_beside",
    "clocks_comparable",
    "committed_unknown",
    "contended",
    "contended_by_resource",
    "happened",
    "history_complete",
    "in_flight_together",
    "landed",
    "led",
    "load_healthy",
    "names",
    "premise",
    "processors_free",
    "refusals",
    "release_skew",
    "states_known",
    "taken_over",
    "trail_complete",
]
