"""What becomes of seats whose claim has ended: they go to those who wait, and only the rest falls from the count."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from service.reservation import bodies, outbox, resources, rules, waitlist
from service.reservation.outbox import Notice

if TYPE_CHECKING:
    from datetime import datetime

    from service.database import Connection


async def promote_or_release(connection: Connection, room: Any, seats: int, at: datetime) -> int:
    """Hand `seats` of the locked resource `room` to the oldest waiters, release the rest, return how many waited.

    The seats change hands without the count moving: a seat given back and taken again could be taken by another in
    between. Nothing is promoted any more once the resource is closed.
    """
    promoted = await promote(connection, room, seats, at) if room["state"] == "OPEN" else 0
    if promoted < seats:
        await release(connection, room, seats - promoted)
    return promoted


async def promote(connection: Connection, room: Any, seats: int, at: datetime) -> int:
    """Offer up to `seats` seats of the locked resource to the oldest waiters, and put the notices of it in the outbox.

    Returns how many waiters there were.
    """
    offers = await waitlist.SQL["promote"].rows(
        connection, resource=room["id"], seats=seats, at=at, offer_ttl=room["offer_ttl"]
    )
    if offers:
        notices = [_notice(room["id"], offer) for offer in offers]
        await outbox.enqueue(connection, room["tenant"], notices, at)
    return len(offers)


def _notice(resource: int, offer: Any) -> Notice:
    body = bodies.OfferCreated(
        offer_id=offer["id"],
        entry_id=offer["entry_id"],
        resource_id=resource,
        expires_at=offer["expires_at"],
    )
    return Notice(
        delivery_id=rules.offer_delivery(offer["entry_id"]),
        kind="offer-created",
        payload=bodies.encoded(body),
    )


async def release(connection: Connection, room: Any, seats: int) -> None:
    """Let `seats` seats of the locked resource fall from the count."""
    await resources.SQL["release"].value(connection, resource=room["id"], quantity=seats)
