"""Reservations: seats that are somebody's, until they are given back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from service import errors, statements
from service.errors import Refused
from service.reservation import bodies, handover, resources, rules
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from datetime import datetime

    from service.database import Connection
    from service.reservation.rules import Action

SQL: Final = statements.load("service.reservation", "reservations")


async def cancel(connection: Connection, action: Action) -> Answer:
    """End a confirmed reservation and hand its seats over; raises Refused."""
    seen = await find(connection, tenant=action.tenant, reservation=action.id)
    room = await resources.lock(connection, tenant=action.tenant, resource=seen["resource_id"])
    reservation = await find(connection, tenant=action.tenant, reservation=action.id, at=action.at)
    if (refusal := rules.reservation_refusal(reservation, action)) is not None:
        raise Refused(refusal)
    ended = await SQL["cancel"].row(connection, reservation=action.id, at=reservation["at"])
    await handover.promote_or_release(connection, room, ended["quantity"], reservation["at"])
    return Answer(200, bodies.encoded(bodies.Reservation.of(ended)))


async def find(connection: Connection, *, tenant: str, reservation: int, at: datetime | None = None) -> Any:
    """Return a reservation's row and the time; raises Refused (RESERVATION_NOT_FOUND)."""
    row = await SQL["find"].row(connection, tenant=tenant, reservation=reservation, at=at)
    if row is None:
        raise Refused(errors.RESERVATION_NOT_FOUND)
    return row
