"""The sweeper lives in the east and goes by its own clock: every hold is over as soon as it is made."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from chaos.mutants import Mutant, _wall_clock

MUTANT: Final = Mutant(
    name="zone-clock",
    mechanism="Sweeps by the local time of the worker, taken for the database's: east of Greenwich holds end hours before their time.",
    section="holds",
    reports=_wall_clock.REPORTS,
    scenario="offer_expiry",
    caught_by=("nothing_expires_early",),
)


def plant() -> None:
    """Let the sweep go by a clock that is nine hours ahead."""
    _wall_clock.sweep_by_it(timedelta(hours=9))
