"""Resources: what is on offer, how much of it, and how much is taken."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import msgspec

from service import errors, statements
from service.errors import Refused
from service.reservation.bodies import NewResource, Resource, ResourcePage
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from datetime import datetime

    from service.database import Connection
    from service.settings import Settings

SQL: Final = statements.load("service.reservation", "resources")


def complete(body: NewResource, settings: Settings) -> NewResource:
    """Return the request with the defaults filled in; raises Refused (INVALID_BODY) past the service's limits."""
    full = msgspec.structs.replace(
        body,
        hold_seconds=body.hold_seconds or settings.hold_seconds,
        offer_seconds=body.offer_seconds or settings.offer_seconds,
    )
    lifetimes = (full.hold_seconds or 0.0, full.offer_seconds or 0.0)
    if max(lifetimes) > settings.lifetime_seconds_max or full.capacity > settings.capacity_max:
        raise Refused(errors.INVALID_BODY)
    return full


async def create(connection: Connection, tenant: str, body: NewResource) -> Answer:
    """Put a completed resource on offer; raises Refused (RESOURCE_CODE_TAKEN)."""
    row = await SQL["create"].row(
        connection, tenant=tenant, code=body.code, capacity=body.capacity,
        hold_ttl=timedelta(seconds=body.hold_seconds or 0.0), offer_ttl=timedelta(seconds=body.offer_seconds or 0.0),
        per_owner_limit=body.per_owner_limit,
    )  # fmt: skip
    if row is None:
        raise Refused(errors.RESOURCE_CODE_TAKEN)
    return Answer(201, msgspec.json.encode(Resource.of(row)).decode())


async def find(connection: Connection, *, tenant: str, resource: int) -> Any:
    """Return a resource's row, unlocked; raises Refused (RESOURCE_NOT_FOUND)."""
    row = await SQL["find"].row(connection, tenant=tenant, resource=resource)
    if row is None:
        raise Refused(errors.RESOURCE_NOT_FOUND)
    return row


async def lock(connection: Connection, *, tenant: str, resource: int) -> Any:
    """Lock a resource and return its row as it is now; whatever else is read must be read after this."""
    row = await SQL["lock"].row(connection, tenant=tenant, resource=resource)
    if row is None:
        raise Refused(errors.RESOURCE_NOT_FOUND)
    return row


async def clock(connection: Connection, at: datetime | None = None) -> datetime:
    """Return the database's time; asked after the last lock that the decision needs."""
    now: datetime = await SQL["clock"].value(connection, at=at)
    return now


async def page(connection: Connection, *, tenant: str, after: int, rows: int) -> ResourcePage:
    """Return up to `rows` of the tenant's resources behind id `after`."""
    found = await SQL["page"].rows(connection, tenant=tenant, after=after, rows=rows + 1)
    shown = [Resource.of(row) for row in found[:rows]]
    return ResourcePage(resources=shown, next_after=shown[-1].id if len(found) > rows else None)
