"""A hold that its buyer gives back is over, and its seat stays taken."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _hand_over
from service.reservation import holds

MUTANT: Final = Mutant(
    name="never-released-on-cancel",
    mechanism="Ends a hold that is cancelled, and leaves its seats in the count: nobody is offered them, and nobody can take them.",
    section="holds",
    reports=_hand_over.NEVER_RELEASED,
    scenario="hot_row_stampede",
    caught_by=("occupancy_matches_claims", "sold_out_is_true", "seats_linearize_without_trail"),
)


def plant() -> None:
    """Take the hand-over out of the cancelling of a hold."""
    _hand_over.hand_nothing_over(holds)
