"""What Redis can tell of a command: whether the cluster has a permit for it, and whether its twin is under way.

Both are leases by Redis' own clock, so that a killed node's permits and marks come back by themselves. Redis may refuse
and may fail; neither ever decides anything about a seat.
"""

from __future__ import annotations

import asyncio
from enum import IntEnum
from importlib import resources
from typing import TYPE_CHECKING, Final

import redis.asyncio
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

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
        self._timeout_seconds = settings.redis_timeout_ms / 1_000
        self.breaker = breaker
        # The client's own retries turn one refused connection into seconds.
        self._client = redis.asyncio.Redis.from_url(
            settings.redis_url,
            socket_timeout=None,  # each call below is bounded as a whole, once
            socket_connect_timeout=self._timeout_seconds,
            retry=Retry(NoBackoff(), 0),
            retry_on_timeout=False,
            max_connections=settings.redis_connections_max,
        )
        self._admit = self._client.register_script(_script("admit"))
        self._leave = self._client.register_script(_script("leave"))

    async def admit(self, scope: str, token: str) -> Word:
        """Ask for a permit and the mark of `scope`, both or neither."""
        if not self.breaker.may_ask():
            return Word.UNHEARD
        arguments: list[str | int] = [
            self._settings.redis_permits,
            self._settings.redis_permit_lease_ms,
            token,
            self._settings.suppressor_ttl_ms,
        ]
        try:
            async with asyncio.timeout(self._timeout_seconds):
                said = await self._admit(keys=[PERMITS_KEY, _mark(scope)], args=arguments)
        except _BROKEN:
            self.breaker.failed()
            return Word.UNHEARD
        except asyncio.CancelledError:
            self.breaker.failed()
            raise
        self.breaker.succeeded()
        return Word(int(said))

    async def leave(self, scope: str, token: str) -> None:
        """Give both back; where that fails, their leases do it."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await self._leave(keys=[PERMITS_KEY, _mark(scope)], args=[token])
        except _BROKEN:
            self.breaker.failed()

    async def answers(self) -> bool:
        """Whether Redis answers now, whatever the breaker thinks."""
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await self._client.ping()
        except _BROKEN:
            return False
        return True

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _mark(scope: str) -> str:
    return _MARK_KEY.format(scope=scope)


def _script(name: str) -> str:
    return (resources.files("service.reservation.admission") / f"{name}.lua").read_text(encoding="utf-8")
