"""A lock in Redis stands in for the guard in the database, and its time is over while the work still goes on."""

from __future__ import annotations

import asyncio
import os
import random
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import redis.asyncio as redis
from redis.exceptions import LockNotOwnedError

from chaos.mutants import Mutant, _schema, _take
from service import errors
from service.errors import Refused
from service.reservation import holds, resources
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from datetime import datetime

    from service.database import Connection
    from service.reservation.holds import Order

MUTANT: Final = Mutant(
    name="lock-expires",
    mechanism="Takes a seat under a lock in Redis that may lapse between the look and the write, with no other guard.",
    section="redis",
    reports=("redisson/redisson#5698", "redisson/redisson#3714", "mike-marcacci/node-redlock#65"),
    scenario="last_seat_race",
    caught_by=("never_oversold",),
    racy=True,
    schema=(_schema.NO_CAPACITY_CHECK,),
)

LOCK_SECONDS: Final = 0.02
WORK_SECONDS_MAX: Final = 0.03
PATIENCE_SECONDS: Final = 3.0
UNGUARDED: Final = {"take": holds.SQL["take"]}


def plant() -> None:
    """Put the locked look before an unguarded take."""
    _take.drop_guard(UNGUARDED)
    client = redis.from_url(os.environ["RESERVATION_REDIS_URL"])

    async def take(connection: Connection, order: Order, *, at: datetime | None = None) -> Answer | None:
        lock = client.lock(
            f"lock:{order.resource}", timeout=LOCK_SECONDS, sleep=0.002, blocking_timeout=PATIENCE_SECONDS
        )
        if not await lock.acquire():
            raise Refused(errors.DATABASE_BUSY)
        try:
            return await _look_and_take(connection, order, at)
        finally:
            with suppress(LockNotOwnedError):
                await lock.release()

    holds.take = take


async def _look_and_take(connection: Connection, order: Order, at: datetime | None) -> Answer | None:
    room = await resources.SQL["find"].row(connection, tenant=order.tenant, resource=order.resource)
    free = room is not None and room["occupied_count"] + order.quantity <= room["capacity"]
    if free:
        # What else is done under the lock: most of the time it is quick enough.
        await asyncio.sleep(random.uniform(0, WORK_SECONDS_MAX))  # noqa: S311 - no secret
    statement = UNGUARDED["take"] if free else holds.SQL["take"]
    row = await statement.row(
        connection, tenant=order.tenant, operation=holds.OPERATION, key=order.key, fingerprint=order.fingerprint,
        owner=order.owner_digest, resource=order.resource, quantity=order.quantity, expected=order.expected_revision,
        at=at, **holds.TOLD,
    )  # fmt: skip
    return None if row is None else Answer(row["status"], row["body"])
