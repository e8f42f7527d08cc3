"""A reservation that is given back is over, and its seat stays taken."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _hand_over
from service.reservation import reservations

MUTANT: Final = Mutant(
    name="never-released-on-reservation-cancel",
    mechanism="Ends a reservation that is cancelled, and leaves its seats in the count: nobody is offered them, and nobody can take them.",
    section="holds",
    reports=_hand_over.NEVER_RELEASED,
    scenario="newcomer_flood",
    caught_by=("occupancy_matches_claims", "nothing_left_behind"),
)


def plant() -> None:
    """Take the hand-over out of the cancelling of a reservation."""
    _hand_over.hand_nothing_over(reservations)
