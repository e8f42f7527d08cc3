"""A delivery that fails is due again at once: as long as the provider fails, it is asked as fast as anybody can ask.

Planted in the outbox for the same reason as `retry-storm`.
"""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, reword
from service.reservation import outbox

MUTANT: Final = Mutant(
    name="retry-storm-without-rest",
    mechanism="Puts a delivery that failed back without the rest that it is to have before the next attempt.",
    section="limits",
    reports=("zarusz/SlimMessageBus#475",),
    scenario="poison_delivery",
    caught_by=("retries_are_bounded",),
)


def plant() -> None:
    """Take the rest away."""
    reword(outbox.SQL, "mark_failed", was="+ $3::interval", now="+ 0 * $3::interval")
