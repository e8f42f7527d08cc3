"""A key is the same key whoever sends it: a stranger who happens to use it is told what another was told."""

from __future__ import annotations

from typing import Any, Final

from chaos.mutants import Mutant
from service.reservation import idempotency

MUTANT: Final = Mutant(
    name="scope-missing",
    mechanism="Replays what is stored under a key to whoever sends it, another user too.",
    section="idempotency",
    reports=(
        "arun0009/idempotent#217",
        "Tr3kkR/Yuzu#3586",
        "RamaAditya49/titen#37",
        "C-Address-Onboarding-Bridge/C-Address-Onboarding-Bridge-Backend#379",
    ),
    scenario="timeout_retry",
    caught_by=("reused_key_conflicts",),
)

_fingerprint = idempotency.fingerprint


def plant() -> None:
    """Leave the owner out of what must be the same for a repeated key to be a repeated command."""
    idempotency.fingerprint = fingerprint


def fingerprint(operation: str, payload: Any, owner_digest: str) -> str:  # noqa: ARG001 - its signature
    """Return the digest of a command, whoever gives it."""
    return _fingerprint(operation, payload, "")
