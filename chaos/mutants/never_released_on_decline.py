"""An offer that is declined is over, and its seat stays taken."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _hand_over
from service.reservation import offers

MUTANT: Final = Mutant(
    name="never-released-on-decline",
    mechanism="Ends an offer that is declined, and leaves its seat in the count: nobody is offered it, and nobody can take it.",
    section="holds",
    reports=_hand_over.NEVER_RELEASED,
    scenario="change_of_plans",
    caught_by=("occupancy_matches_claims",),
)


def plant() -> None:
    """Take the hand-over out of the declining of an offer."""
    _hand_over.hand_nothing_over(offers)
