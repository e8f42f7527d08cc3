"""A key is all that counts: another wish under an old key is told the old answer."""

from __future__ import annotations

from typing import Any, Final

from chaos.mutants import Mutant
from service.reservation import idempotency
from service.reservation.idempotency import FingerprintConflict, Replay

MUTANT: Final = Mutant(
    name="payload-ignored",
    mechanism="Replays what is stored under a key whatever is asked for under it.",
    section="idempotency",
    reports=(
        "Universal-Commerce-Protocol/samples#166",
        "fossasia/eventyay#602",
        "josipmusa/idempotency4j#12",
        "msaad00/agent-bom#2969",
    ),
    scenario="timeout_retry",
    caught_by=("reused_key_conflicts", "acknowledged_is_persisted"),
)


def plant() -> None:
    """Never compare what is asked with what was asked."""
    idempotency.settled = settled


def settled(seen: Any, mark: str) -> Replay | FingerprintConflict | None:  # noqa: ARG001 - its signature
    """Return the stored answer, if there is one."""
    return None if seen["status"] is None else Replay(status=seen["status"], body=seen["body"])
