"""An offer that nobody took up has ended, and its seat stays taken."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _hand_over, reword
from service.reservation import expiry

MUTANT: Final = Mutant(
    name="never-released-on-offer-expiry",
    mechanism="Ends the offers whose time is over, and leaves their seats in the count.",
    section="holds",
    reports=_hand_over.NEVER_RELEASED,
    scenario="offer_expiry",
    caught_by=("occupancy_matches_claims", "nothing_left_behind"),
)


def plant() -> None:
    """Let the sweep end the offers without learning how many they were."""
    reword(
        expiry.SQL,
        "expire_offers",
        was="WHERE e.id = ended.entry_id\nRETURNING e.id",
        now="WHERE e.id = ended.entry_id",
    )
