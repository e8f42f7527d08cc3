"""A hold of two seats runs out, and one comes back: holds were counted where seats were meant."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, reword
from service.reservation import expiry

MUTANT: Final = Mutant(
    name="wrong-units",
    mechanism="Gives back one seat for each hold that ran out, however many seats it was of.",
    section="holds",
    reports=("AnthropicBots/compressor#1215",),
    scenario="change_of_plans",
    caught_by=("occupancy_matches_claims", "sold_out_is_true"),
)


def plant() -> None:
    """Let the sweep find a single seat in each hold that it ends."""
    reword(expiry.SQL, "expire_holds", was="RETURNING h.id, h.quantity", now="RETURNING h.id, 1 AS quantity")
