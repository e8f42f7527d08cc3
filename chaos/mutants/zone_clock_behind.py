"""The sweeper lives in the west and goes by its own clock: nothing is ever over."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from chaos.mutants import Mutant, _wall_clock

MUTANT: Final = Mutant(
    name="zone-clock-behind",
    mechanism="Sweeps by the local time of the worker, taken for the database's: west of Greenwich holds outlive their time by hours.",
    section="holds",
    reports=_wall_clock.REPORTS,
    scenario="offer_expiry",
    caught_by=("nothing_left_behind",),
)


def plant() -> None:
    """Let the sweep go by a clock that is five hours behind."""
    _wall_clock.sweep_by_it(timedelta(hours=-5))
