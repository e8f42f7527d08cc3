"""A mark gets its time to live in a second command: where that is lost, the mark stays for ever."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError

from chaos.mutants import BrokenMutant, Mutant
from service.reservation.admission import redis_gate
from service.reservation.admission.redis_gate import RedisGate, Word
from service.reservation.admission.redis_wire import Script

if TYPE_CHECKING:
    from collections.abc import Callable

MUTANT: Final = Mutant(
    name="ttl-less",
    mechanism="Sets the mark of a command under way in one call and its time to live in the next, which may be lost.",
    section="redis",
    reports=("onyx-dot-app/onyx#10405", "JSONbored/loopover#9493", "veryfront/veryfront-code#2256"),
    scenario="redis_flapping",
    caught_by=("no_immortal_keys",),
    racy=True,
)

BETWEEN_SECONDS: Final = 0.02
_EXPIRE: Final = Script("return redis.call('PEXPIRE', KEYS[1], ARGV[1])", keys=1)
_WITH_TTL: Final = "'NX', 'PX', ARGV[4])"
_admit: Final = RedisGate.admit
_script: Final[Callable[[str], str]] = redis_gate._script


def plant() -> None:
    """Take the time to live out of the script, and set it afterwards."""
    if _script("admit").count(_WITH_TTL) != 1:
        raise BrokenMutant(f"admit.lua does not have {_WITH_TTL} once")
    redis_gate._script = script
    RedisGate.admit = admit  # type: ignore[assignment, method-assign]  # a method is replaced, which mypy forbids


def script(name: str) -> str:
    """Return a script of the service; a mark that it sets has no end."""
    return _script(name).replace(_WITH_TTL, "'NX')")


async def admit(gate: RedisGate, scope: str, token: str) -> Word:
    """Ask as the service does, and then give the mark its time to live."""
    word = await _admit(gate, scope, token)
    if word is Word.ADMITTED:
        # Whatever else is done between the two calls.
        await asyncio.sleep(BETWEEN_SECONDS)
        try:
            await gate._wire.run(_EXPIRE, redis_gate._mark(scope), gate._mark_ms)
        except (RedisError, OSError, TimeoutError):
            gate.breaker.failed()
    return word
