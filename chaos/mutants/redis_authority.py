"""Redis counts what is left, and what it counted down for a hold that then failed is never put back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import redis.asyncio as redis
from redis.asyncio.retry import Retry
from redis.backoff import ConstantBackoff

from chaos.mutants import Mutant
from service import errors
from service.errors import Refused
from service.reservation import handover, holds, idempotency, resources

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta

    from service.database import Connection, Database
    from service.reservation.holds import Order
    from service.reservation.idempotency import Answer, Answered

MUTANT: Final = Mutant(
    name="redis-authority",
    mechanism="Counts the stock down in Redis before the database is asked, and does not count it up when that fails.",
    section="redis",
    reports=(
        "qiurunze123/miaosha#91",
        "hfbin/Seckill#14",
        "newbee-ltd/newbee-mall#97",
        "bootsrc/jseckill#21",
    ),
    scenario="database_blip",
    caught_by=("sold_out_is_true", "redis_never_decides"),
)

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
_CREATED: Final = 201
_place: Final = holds.place
_release: Final = handover.release


class Stock:
    """How many seats of each resource are left, as Redis has it; written there when first asked for."""

    def __init__(self) -> None:
        # A Redis that fails over is waited for.
        waiting = Retry(ConstantBackoff(_RETRY_SECONDS), _RETRIES_MAX)
        self._redis = redis.from_url(os.environ["RESERVATION_REDIS_URL"], retry=waiting)

    async def take(self, database: Database, order: Order) -> None:
        """Count seats down. Raises Refused (CAPACITY_EXHAUSTED) where so many are not left."""
        key = _key(order.resource)
        while (taken := int(await self._redis.eval(_TAKE, 1, key, order.quantity))) < 0:
            await self._write(database, order, key)
        if not taken:
            raise Refused(errors.CAPACITY_EXHAUSTED)

    async def _write(self, database: Database, order: Order, key: str) -> None:
        room = await database.read(
            lambda connection: resources.find(connection, tenant=order.tenant, resource=order.resource)
        )
        await self._redis.set(key, room["capacity"] - room["occupied_count"], nx=True, ex=_KEPT_SECONDS)

    async def give_back(self, resource: int, seats: int) -> None:
        """Count seats up again."""
        await self._redis.incrby(_key(resource), seats)


def _key(resource: int) -> str:
    return f"stock:{resource}"


def plant() -> None:
    """Ask Redis first, and tell it only of what ended well."""
    stock = Stock()

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
            return await _place(database, order, lease=lease, decide=decide)
        await stock.take(database, order)
        answered = await _place(database, order, lease=lease, decide=decide)
        if answered.replayed or answered.answer.status != _CREATED:
            await stock.give_back(order.resource, order.quantity)
        return answered

    async def release(connection: Connection, room: Any, seats: int) -> None:
        await _release(connection, room, seats)
        await stock.give_back(room["id"], seats)

    holds.place = place
    handover.release = release
