"""A header that says who asks is believed: whoever has had all that one may have takes another name."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, _identity

MUTANT: Final = Mutant(
    name="spoofed-identity-limit",
    mechanism="Counts by the header X-Reservation-Owner what one owner may have, whatever the token says.",
    section="limits",
    reports=_identity.REPORTS,
    scenario="limit_bypass",
    caught_by=("limits_hold",),
)


def plant() -> None:
    """Ask the header who counts."""
    _identity.believe_the_header()
