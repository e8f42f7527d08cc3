"""The line before a resource that is full: first come, first offered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from service import errors, statements
from service.errors import Refused
from service.reservation import bodies, claims, resources, rules
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from datetime import datetime

    from service.database import Connection
    from service.reservation.rules import Action

SQL: Final = statements.load("service.reservation", "waitlist")


async def join(
    connection: Connection, *, tenant: str, owner: str, key: str, resource: int, at: datetime | None = None
) -> Answer:
    """Put an owner at the end of the line; raises Refused where the resource is closed or a seat is free."""
    room = await resources.lock(connection, tenant=tenant, resource=resource)
    if room["state"] != rules.ResourceState.OPEN:
        raise Refused(errors.RESOURCE_CLOSED)
    if room["occupied_count"] < room["capacity"]:
        raise Refused(errors.SEATS_AVAILABLE)
    await claims.within_limit(connection, room, owner, 1)
    now = await resources.clock(connection, at)
    entry = await SQL["join"].row(connection, tenant=tenant, resource=resource, owner=owner, key=key, at=now)
    return Answer(201, bodies.encoded(bodies.Entry.of(entry)))


async def leave(connection: Connection, action: Action) -> Answer:
    """Take a waiting owner out of the line; raises Refused."""
    seen = await find(connection, tenant=action.tenant, entry=action.id)
    await resources.lock(connection, tenant=action.tenant, resource=seen["resource_id"])
    entry = await find(connection, tenant=action.tenant, entry=action.id, at=action.at)
    if (refusal := rules.entry_refusal(entry, action)) is not None:
        raise Refused(refusal)
    left = await SQL["leave"].row(connection, entry=action.id, at=entry["at"])
    return Answer(200, bodies.encoded(bodies.Entry.of(left)))


async def find(connection: Connection, *, tenant: str, entry: int, at: datetime | None = None) -> Any:
    """Return an entry's row with its offer's id and the time; raises Refused (ENTRY_NOT_FOUND)."""
    row = await SQL["find"].row(connection, tenant=tenant, entry=entry, at=at)
    if row is None:
        raise Refused(errors.ENTRY_NOT_FOUND)
    return row
