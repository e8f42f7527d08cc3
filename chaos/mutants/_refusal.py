"""Refusals that are not the database's decision, and are kept under their key all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from service import errors
from service.errors import Refused
from service.reservation import once

if TYPE_CHECKING:
    from datetime import timedelta

    from service.database import Connection, Database
    from service.reservation.holds import Order
    from service.reservation.idempotency import Answer, Answered


async def refuse_as_sold_out(database: Database, order: Order, *, lease: timedelta) -> Answered:
    """Refuse a hold unless its key is known, and store the refusal as the service stores its own; raises Refused."""
    return await once.execute(database, order.scope, order.fingerprint, _sold_out, lease=lease)


async def _sold_out(_: Connection) -> Answer:
    raise Refused(errors.CAPACITY_EXHAUSTED)
