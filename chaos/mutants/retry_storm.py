"""A delivery that fails is sent again at once, and again: whoever is slow is asked five times as much.

The best known account is of callers of a slow service (storecode.pro, "Incident report: A retry storm", 2019; who wrote it is
not known). A command of this service calls nobody but its database and Redis, neither of which it asks again; what it does
call, and may have to call again, is a provider. So the bug is planted in the outbox, and the reports are of outboxes.
"""

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
    reports=("CERTCC/Vultron#2302",),
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
