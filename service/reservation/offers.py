"""Offers: a seat that changed hands while it was counted, and waits for its new owner's word."""

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

SQL: Final = statements.load("service.reservation", "offers")


async def accept(connection: Connection, action: Action) -> Answer:
    """Turn a live offer into a reservation; the count does not move. Raises Refused."""
    _, offer = await _checked(connection, action)
    reservation = await SQL["accept"].row(connection, offer=action.id, at=offer["at"])
    return Answer(201, bodies.encoded(bodies.Reservation.of(reservation)))


async def decline(connection: Connection, action: Action) -> Answer:
    """End a live offer and pass the seat on; raises Refused."""
    room, offer = await _checked(connection, action)
    ended = await SQL["decline"].row(connection, offer=action.id, at=offer["at"])
    await handover.promote_or_release(connection, room, 1, offer["at"])
    return Answer(200, bodies.encoded(bodies.Offer.of(ended)))


async def _checked(connection: Connection, action: Action) -> tuple[Any, Any]:
    """Lock an offer's resource and return its row and the offer's, read afterwards; raises Refused."""
    seen = await find(connection, tenant=action.tenant, offer=action.id)
    room = await resources.lock(connection, tenant=action.tenant, resource=seen["resource_id"])
    offer = await find(connection, tenant=action.tenant, offer=action.id, at=action.at)
    if (refusal := rules.offer_refusal(offer, action)) is not None:
        raise Refused(refusal)
    return room, offer


async def find(connection: Connection, *, tenant: str, offer: int, at: datetime | None = None) -> Any:
    """Return an offer's row and the time; raises Refused (OFFER_NOT_FOUND)."""
    row = await SQL["find"].row(connection, tenant=tenant, offer=offer, at=at)
    if row is None:
        raise Refused(errors.OFFER_NOT_FOUND)
    return row
