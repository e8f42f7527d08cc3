"""A notice that is sent again carries an id of its own: whoever has it already cannot tell."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from chaos.mutants import Mutant
from service.reservation.notifier import Notifier

if TYPE_CHECKING:
    from service.reservation.notifier import Taken
    from service.reservation.outbox import Claim

MUTANT: Final = Mutant(
    name="send-crash-resend",
    mechanism="Sends each further attempt under a fresh id, so that a crash after sending makes a second effect.",
    section="outbox",
    reports=("entire-vc/evc-team-relay#115", "langfuse/langfuse#16578"),
    scenario="worker_crash",
    caught_by=("delivered_once",),
)

_send: Final = Notifier.send


def plant() -> None:
    """Let the notifier name each attempt, and not the notice."""
    Notifier.send = send  # type: ignore[assignment, method-assign]  # a method is replaced, which mypy forbids


async def send(notifier: Notifier, claim: Claim) -> Taken:
    """Send a notice as the service does, under an id that only the first attempt shares with the outbox."""
    if claim.attempt > 1:
        claim = replace(claim, delivery_id=f"{claim.delivery_id}-{claim.attempt}")
    return await _send(notifier, claim)
