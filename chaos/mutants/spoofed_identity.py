"""A header that says who asks is believed, and what is another's is used."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _identity

MUTANT: Final = Mutant(
    name="spoofed-identity",
    mechanism="Believes the header X-Reservation-Owner beside a token that says something else.",
    section="limits",
    reports=_identity.REPORTS,
    scenario="stolen_offer",
    caught_by=("only_the_owner_acts",),
)


def plant() -> None:
    """Ask the header who acts."""
    _identity.believe_the_header()
