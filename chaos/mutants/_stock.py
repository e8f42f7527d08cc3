"""A count in Redis of what is left, for the planted bugs that believe it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff

from chaos.mutants._refusal import refuse_as_sold_out
from service.reservation import handover, holds, idempotency, resources

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta

    from service.database import Connection, Database
    from service.reservation.holds import Order
    from service.reservation.idempotency import Answer, Answered

CREATED: Final = 201

_TAKE: Final = """
local left = redis.call('GET', KEYS[1])
if not left then return -1 end
if tonumber(left) < tonumber(ARGV[1]) then return 0 end
redis.call('DECRBY', KEYS[1], ARGV[1])
return 1
"""
_KEPT_SECONDS: Final = 3_600
_RETRY_SECONDS: Final = 0.05
_RETRIES_MAX: Final = 40


class Stock:
    """How many seats of each resource are left, as Redis has it; written there when first asked for."""

    def __init__(self) -> None:
        # A Redis that fails over is waited for.
        waiting = Retry(ConstantBackoff(_RETRY_SECONDS), _RETRIES_MAX)
        self._redis = redis.from_url(os.environ["RESERVATION_REDIS_URL"], retry=waiting)

    async def take(self, database: Database, order: Order) -> bool:
        """Count seats down; False where so many are not left."""
        key = _key(order.resource)
        while (taken := int(await self._redis.eval(_TAKE, 1, key, order.quantity))) < 0:
            await self._write(database, order, key)
        return bool(taken)

    async def left(self, database: Database, order: Order) -> int:
        """Return how many seats are left, and count nothing."""
        key = _key(order.resource)
        while (left := await self._redis.get(key)) is None:
            await self._write(database, order, key)
        return int(left)

    async def _write(self, database: Database, order: Order, key: str) -> None:
        room = await database.read(
            lambda connection: resources.find(connection, tenant=order.tenant, resource=order.resource)
        )
        await self._redis.set(key, room["capacity"] - room["occupied_count"], nx=True, ex=_KEPT_SECONDS)

    async def give_back(self, resource: int, seats: int) -> None:
        """Count seats up again."""
        await self._redis.incrby(_key(resource), seats)

    def hear_of_releases(self) -> None:
        """Count up whatever the service releases from now on."""
        healthy = handover.release

        async def release(connection: Connection, room: Any, seats: int) -> None:
            await healthy(connection, room, seats)
            await self.give_back(room["id"], seats)

        handover.release = release


def _key(resource: int) -> str:
    return f"stock:{resource}"


async def give_back(stock: Stock, order: Order) -> None:
    """Count up again what was counted down for a hold that failed."""
    await stock.give_back(order.resource, order.quantity)


def ask_redis_first(*, failed: Callable[[Stock, Order], Awaitable[None]] = give_back) -> None:
    """Let every new hold count down in Redis before the database is asked, and call `failed` if that then fails."""
    healthy, stock = holds.place, Stock()

    async def place(
        database: Database,
        order: Order,
        *,
        lease: timedelta,
        decide: Callable[[Order], Awaitable[Answer | None]] | None = None,
    ) -> Answered:
        known = await database.read(
            lambda connection: idempotency.recall(connection, order.scope, order.fingerprint)
        )
        if known is not None:
            return await healthy(database, order, lease=lease, decide=decide)
        if not await stock.take(database, order):
            return await refuse_as_sold_out(database, order, lease=lease)
        try:
            answered = await healthy(database, order, lease=lease, decide=decide)
        except BaseException:
            await failed(stock, order)
            raise
        if answered.replayed or answered.answer.status != CREATED:
            await give_back(stock, order)
        return answered

    holds.place = place
    stock.hear_of_releases()
