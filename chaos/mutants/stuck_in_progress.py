"""A claim lasts as long as an answer is kept: whoever dies with one leaves a command that is in progress for a day."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, reword
from service.reservation import idempotency

MUTANT: Final = Mutant(
    name="stuck-in-progress",
    mechanism="Gives the claim on a key the lifetime of its answer, so that nobody takes it over from a node that died.",
    section="idempotency",
    reports=("pathosDev/actor-ts#984", "torkiv-labs/Nexuq#361"),
    scenario="orphaned_claim",
    caught_by=("nothing_left_behind",),
)


def plant() -> None:
    """Claim for a day."""
    reword(
        idempotency.SQL, "claim", was=" + $7::interval", now=" + greatest($7::interval, interval '24 hours')"
    )
