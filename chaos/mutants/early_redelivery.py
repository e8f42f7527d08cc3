"""A notice that is still being sent is taken for lost: the time after which it is sent again is shorter than a send."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, reword
from service.reservation import outbox

MUTANT: Final = Mutant(
    name="early-redelivery",
    mechanism="Takes up again whatever was claimed a tenth of a second ago, however long the claim on it runs.",
    section="outbox",
    reports=("celery/kombu#337", "celery/celery#2599", "learningequality/studio#3395"),
    scenario="slow_provider",
    caught_by=("retries_are_bounded",),
    racy=True,
)


def plant() -> None:
    """Let a claim be taken over after a visibility timeout that knows nothing of its lease."""
    reword(
        outbox.SQL,
        "claim",
        was="claim_expires_at <= coalesce($1::timestamptz, statement_timestamp())",
        now="claim_expires_at <= coalesce($1::timestamptz, statement_timestamp()) + $6::interval - interval '100 ms'",
    )
