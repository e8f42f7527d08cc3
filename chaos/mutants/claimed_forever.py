"""A claim never lapses: what a dead worker had in its hands nobody else takes up."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, reword
from service.reservation import outbox

MUTANT: Final = Mutant(
    name="claimed-forever",
    mechanism="Never takes up again what was claimed by a worker that has died since.",
    section="outbox",
    reports=("oban-bg/oban#1037", "procrastinate-org/procrastinate#1408"),
    scenario="worker_crash",
    caught_by=("nothing_left_behind",),
)


def plant() -> None:
    """Let the outbox claim what is pending, and nothing else."""
    reword(
        outbox.SQL,
        "claim",
        was="OR state = 'CLAIMED' AND claim_expires_at <= coalesce($1::timestamptz, statement_timestamp())",
        now="",
    )
