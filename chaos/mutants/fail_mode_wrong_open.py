"""The limit of seats a head is counted in Redis, and where Redis cannot be asked everybody is within it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from chaos.mutants import Mutant
from service import errors
from service.errors import Refused
from service.reservation import claims

if TYPE_CHECKING:
    from service.database import Connection

MUTANT: Final = Mutant(
    name="fail-mode-wrong-open",
    mechanism="Counts an owner's seats in Redis, and lets everybody have more while Redis is away.",
    section="redis",
    reports=(
        "Significant-Gravitas/AutoGPT#12990",
        "open-mercato/open-mercato#5030",
        "edictum-ai/edictum-console#7",
    ),
    scenario="limit_without_redis",
    caught_by=("limits_hold",),
)

ASK_SECONDS: Final = 0.1
KEPT_SECONDS: Final = 3_600


def plant() -> None:
    """Ask Redis, and not the rows, how much an owner has."""
    client = redis.from_url(
        os.environ["RESERVATION_REDIS_URL"],
        socket_timeout=ASK_SECONDS,
        socket_connect_timeout=ASK_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )

    async def within_limit(connection: Connection, room: Any, owner: str, more: int) -> None:  # noqa: ARG001 - as the service calls it
        limit, key = room["per_owner_limit"], f"claims:{room['id']}:{owner}"
        if limit is None:
            return
        try:
            has = await client.incrby(key, more)
            await client.expire(key, KEPT_SECONDS)
            if has > limit:
                await client.decrby(key, more)
        except (RedisError, OSError):
            return
        if has > limit:
            raise Refused(errors.OWNER_LIMIT_REACHED)

    claims.within_limit = within_limit
