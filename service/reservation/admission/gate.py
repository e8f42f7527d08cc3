"""The way in: the local bulkhead always first, then whatever Redis can tell, and PostgreSQL behind both."""

from __future__ import annotations

import secrets
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from service import errors
from service.errors import Refused
from service.reservation.admission.redis_gate import Word

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from service.reservation.admission.bulkhead import Bulkhead
    from service.reservation.admission.redis_gate import RedisGate

REDIS: Final = "redis"
LOCAL_FALLBACK: Final = "local-fallback"


class Gate:
    """Admits calls; what it yields, `redis` or `local-fallback`, says who had a say in a command."""

    def __init__(self, bulkhead: Bulkhead, redis: RedisGate | None, *, retry_after_ms: int) -> None:
        self.bulkhead = bulkhead
        self.redis = redis
        self.admitted: Counter[str] = Counter()
        self._retry_after_ms = retry_after_ms

    @asynccontextmanager
    async def admit(self, scope: str | None) -> AsyncIterator[str | None]:
        """Hold a place for one call; `scope` is a command's idempotency scope, None for a read.

        Raises Refused, definite, before the database is asked: ADMISSION_REFUSED without a permit,
        IDEMPOTENCY_IN_PROGRESS while the command's twin is under way.
        """
        with self.bulkhead.permit():
            if scope is None:
                yield None
                return
            token = secrets.token_hex(8)
            word = Word.UNHEARD if self.redis is None else await self.redis.admit(scope, token)
            if word is Word.NO_PERMIT:
                self.admitted["no-permit"] += 1
                raise Refused(errors.ADMISSION_REFUSED, retry_after_ms=self._retry_after_ms)
            if word is Word.TWIN_UNDER_WAY:
                self.admitted["twin"] += 1
                raise Refused(errors.IDEMPOTENCY_IN_PROGRESS, retry_after_ms=self._retry_after_ms)
            way = REDIS if word is Word.ADMITTED else LOCAL_FALLBACK
            self.admitted[way] += 1
            try:
                yield way
            finally:
                # Before the answer leaves: a replay asked for right after it must not meet its own mark.
                if self.redis is not None and word is Word.ADMITTED:
                    await self.redis.leave(scope, token)
