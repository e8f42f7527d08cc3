"""Faults as frozen data: what breaks, where, from when to when."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A fault on the schedule: seconds after t0, healed after a while."""

    seconds: float
    heal_after: float
