"""Whether the process lives and whether it can decide: PostgreSQL makes it ready, Redis only advises."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec
from starlette.responses import Response

from service.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from service.database import Database

_PROBE_SECONDS_MAX: Final = 2.0


class Health:
    """Answers /health/live and /health/ready."""

    def __init__(self, database: Database, redis_answers: Callable[[], Awaitable[bool]]) -> None:
        self._database = database
        self._redis_answers = redis_answers

    async def live(self, _: Request) -> Response:
        """Answer 200 as long as the event loop turns."""
        return _told(200, {"status": "up"})

    async def ready(self, _: Request) -> Response:
        """Answer 200 if PostgreSQL answers, else 503; the body tells it from Redis."""
        postgresql, redis = await asyncio.gather(self._postgresql_answers(), self._redis_answers())
        body = {
            "status": "up" if postgresql else "down",
            "postgresql": "up" if postgresql else "down",
            "redis": "up" if redis else "down",
        }
        return _told(200 if postgresql else 503, body)

    async def _postgresql_answers(self) -> bool:
        try:
            async with asyncio.timeout(_PROBE_SECONDS_MAX):
                return bool(await self._database.read(lambda connection: connection.fetchval("SELECT true")))
        except (Refused, TimeoutError):
            return False


def _told(status: int, body: dict[str, str]) -> Response:
    return Response(msgspec.json.encode(body), status_code=status, media_type="application/json")
