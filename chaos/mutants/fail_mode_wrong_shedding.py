"""Where Redis cannot be asked everybody is turned away, politely and with a time to come back."""

from __future__ import annotations

from typing import Final

from chaos.mutants import Mutant
from service import errors
from service.errors import Refused
from service.reservation.admission.redis_gate import RedisGate, Word

MUTANT: Final = Mutant(
    name="fail-mode-wrong-shedding",
    mechanism="Takes a Redis that does not answer for one that has no permit left, and turns everybody away.",
    section="redis",
    reports=(
        "Significant-Gravitas/AutoGPT#12990",
        "open-mercato/open-mercato#5030",
        "edictum-ai/edictum-console#7",
    ),
    scenario="redis_outage",
    caught_by=("answers_without_redis",),
)
RETRY_AFTER_MS: Final = 100

_admit: Final = RedisGate.admit


def plant() -> None:
    """Let nobody pass of whom Redis has said nothing."""
    RedisGate.admit = admit  # type: ignore[assignment, method-assign]  # a method is replaced, which mypy forbids


async def admit(gate: RedisGate, scope: str, token: str) -> Word:
    """Ask as the service does; raises Refused (ADMISSION_REFUSED) where Redis gave no answer."""
    word = await _admit(gate, scope, token)
    if word is Word.UNHEARD:
        raise Refused(errors.ADMISSION_REFUSED, retry_after_ms=RETRY_AFTER_MS)
    return word
