"""What Redis can tell of a command: whether the cluster has a permit for it, and whether its twin is under way.

Both are leases by Redis' own clock, so that a killed node's permits and marks come back by themselves. Redis may refuse
and may fail; neither ever decides anything about a seat.
"""

from __future__ import annotations

import asyncio
from enum import IntEnum
from importlib import resources
from typing import TYPE_CHECKING, Final

from redis.exceptions import RedisError

from service import deadline
from service.reservation.admission.redis_wire import Script, Wire

if TYPE_CHECKING:
    from service.reservation.admission.breaker import Breaker
    from service.settings import Settings

PERMITS_KEY: Final = "reservation:{admission}:permits"
_MARK_KEY: Final = "reservation:{{admission}}:in-flight:{scope}"
_BROKEN: Final = (RedisError, OSError, TimeoutError)


class Word(IntEnum):
    """What Redis said; `UNHEARD` is no word at all, which is not a refusal."""

    UNHEARD = -1
    NO_PERMIT = 0
    ADMITTED = 1
    TWIN_UNDER_WAY = 2


class RedisGate:
    """Asks Redis in one call, with a hard short timeout and no second try: what costs longer is not worth asking."""

    def __init__(self, settings: Settings, breaker: Breaker) -> None:
        self._settings = settings
        self.breaker = breaker
        self._wire = Wire(settings.redis_url, timeout_seconds=settings.redis_timeout_ms / 1_000)
        # To connect, to ask, and to ask again where the script is not known yet.
        self._longest_seconds = 3 * settings.redis_timeout_ms / 1_000
        self._admit, self._leave = Script(_script("admit"), keys=2), Script(_script("leave"), keys=2)
        limits = (settings.redis_permits, settings.redis_permit_lease_ms, settings.suppressor_ttl_ms)
        self._permits, self._lease_ms, self._mark_ms = (b"%d" % limit for limit in limits)

    async def admit(self, scope: str, token: str) -> Word:
        """Ask for a permit and the mark of `scope`, both or neither."""
        if not self.breaker.may_ask():
            return Word.UNHEARD
        given = (
            PERMITS_KEY.encode(),
            _mark(scope),
            self._permits,
            self._lease_ms,
            token.encode(),
            self._mark_ms,
        )
        try:
            said = await self._ask(self._admit, given, left_seconds=deadline.work_seconds_left())
        except _BROKEN:
            self.breaker.failed()
            return Word.UNHEARD
        except asyncio.CancelledError:
            self.breaker.failed()
            raise
        self.breaker.succeeded()
        return Word(said)

    async def leave(self, scope: str, token: str) -> None:
        """Give both back; where that fails, or nobody has the time to hear of it, their leases do it."""
        given, left_seconds = (
            (PERMITS_KEY.encode(), _mark(scope), token.encode()),
            deadline.answer_seconds_left(),
        )
        try:
            await self._ask(self._leave, given, left_seconds=left_seconds)
        except _BROKEN:
            if (
                left_seconds >= self._longest_seconds
            ):  # else it may be the command that was late, and not Redis
                self.breaker.failed()

    async def _ask(self, script: Script, given: tuple[bytes, ...], *, left_seconds: float) -> int:
        """Run a script; with nothing left it is sent and no reply awaited."""
        if left_seconds >= self._longest_seconds:
            return await self._wire.run(script, *given)
        async with asyncio.timeout(left_seconds):
            return await self._wire.run(script, *given)

    async def answers(self) -> bool:
        """Whether Redis answers now, whatever the breaker thinks."""
        try:
            await self._wire.ping()
        except _BROKEN:
            return False
        return True

    async def close(self) -> None:
        """Close the connection."""
        await self._wire.close()


def _mark(scope: str) -> bytes:
    return _MARK_KEY.format(scope=scope).encode()


def _script(name: str) -> str:
    return (resources.files("service.reservation.admission") / f"{name}.lua").read_text(encoding="utf-8")
