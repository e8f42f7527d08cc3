"""A hold whose time is over has ended, and its seat stays taken."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _hand_over, reword
from service.reservation import expiry

MUTANT: Final = Mutant(
    name="never-released-on-expiry",
    mechanism="Ends the holds whose time is over, and leaves their seats in the count.",
    section="holds",
    reports=_hand_over.NEVER_RELEASED,
    scenario="offer_expiry",
    caught_by=("occupancy_matches_claims", "nothing_left_behind"),
)


def plant() -> None:
    """Let the sweep find no seats in the holds that it ends."""
    reword(expiry.SQL, "expire_holds", was="RETURNING h.id, h.quantity", now="RETURNING h.id, 0 AS quantity")
