"""The numbers of notices are taken to be dense: behind one that was never committed everything waits."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant, reword
from service.reservation import outbox

MUTANT: Final = Mutant(
    name="gap-stalls",
    mechanism="Sends a notice only when every lower number was seen, and waits for ever for one that was rolled back.",
    section="outbox",
    reports=("restatedev/restate#1639",),
    scenario="torn_handover",
    caught_by=("nothing_left_behind",),
)


def plant() -> None:
    """Claim a notice only if no number is missing before it."""
    reword(
        outbox.SQL,
        "claim",
        was="AND attempt_count < $2",
        now="AND attempt_count < $2 AND id = 1 + (SELECT count(*) FROM notification_outbox AS o WHERE o.id < notification_outbox.id)",
    )
