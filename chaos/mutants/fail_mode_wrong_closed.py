"""Where Redis cannot be asked nobody is served, although it could only have advised."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant
from service.reservation.admission.redis_gate import RedisGate, Word

MUTANT: Final = Mutant(
    name="fail-mode-wrong-closed",
    mechanism="Takes a Redis that does not answer for an error of the whole request, and fails everybody.",
    section="redis",
    reports=(
        "Significant-Gravitas/AutoGPT#12990",
        "open-mercato/open-mercato#5030",
        "edictum-ai/edictum-console#7",
    ),
    scenario="redis_outage",
    caught_by=("answers_without_redis",),
)

_admit: Final = RedisGate.admit


def plant() -> None:
    """Let nobody pass of whom Redis has said nothing."""
    RedisGate.admit = admit  # type: ignore[assignment, method-assign]  # a method is replaced, which mypy forbids


async def admit(gate: RedisGate, scope: str, token: str) -> Word:
    """Ask as the service does; raises ConnectionError where Redis gave no answer."""
    word = await _admit(gate, scope, token)
    if word is Word.UNHEARD:
        raise ConnectionError("Redis does not answer")
    return word
