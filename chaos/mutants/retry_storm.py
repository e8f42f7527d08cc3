"""A delivery that fails is sent again at once, and again: whoever is slow is asked five times as much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from chaos.mutants import Mutant
from service.reservation.notifier import Notifier, Taken

if TYPE_CHECKING:
    from service.reservation.outbox import Claim

MUTANT: Final = Mutant(
    name="retry-storm",
    mechanism="Sends a delivery up to five times at once for each attempt that is counted.",
    section="limits",
    reports=("HubSpot/Blazar-Archive#223",),
    scenario="poison_delivery",
    caught_by=("attempts_are_bounded",),
)
SENDS_MAX: Final = 5


def plant() -> None:
    """Loop round the send."""
    healthy = Notifier.send

    async def send(self: Notifier, claim: Claim) -> Taken:
        for _ in range(SENDS_MAX - 1):
            if (taken := await healthy(self, claim)) is not Taken.RETRYABLE_FAILURE:
                return taken
        return await healthy(self, claim)

    Notifier.send = send  # type: ignore[method-assign]  # that is how a bug is planted
