"""A header that says who asks is believed: whoever has had all that one may have takes another name."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, spoofed_identity

MUTANT: Final = Mutant(
    name="spoofed-identity-limit",
    mechanism="Counts by the header X-Reservation-Owner what one owner may have, whatever the token says.",
    section="limits",
    reports=(
        "long2ice/fastapi-limiter#10",
        "express-rate-limit/express-rate-limit#134",
        "leodip/goiabada#87",
    ),
    scenario="limit_bypass",
    caught_by=("limits_hold",),
)


def plant() -> None:
    """Plant the same belief."""
    spoofed_identity.plant()
