"""After the last attempt a notice counts as sent: it is lost, and nothing says so."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, reword
from service.reservation import outbox

MUTANT: Final = Mutant(
    name="dead-letter-drop",
    mechanism="Marks as delivered what failed at its last attempt, so that a long outage loses it silently.",
    section="outbox",
    reports=("pipeshub-ai/pipeshub-ai#3445", "langfuse/langfuse#16578"),
    scenario="provider_down",
    caught_by=("delivered_once",),
)


def plant() -> None:
    """End a notice the same way whether it was taken or not."""
    reword(outbox.SQL, "mark_failed", was="ELSE 'EXHAUSTED' END", now="ELSE 'DELIVERED' END")
