"""What administrators do to a resource on offer: close it, resize it, change its policy."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from service import errors
from service.errors import Refused
from service.reservation import bodies, handover, resources, rules
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from service.database import Connection
    from service.reservation.bodies import NewPolicy, NewSize


async def close(connection: Connection, *, tenant: str, resource: int) -> Answer:
    """Take a resource off offer: who waits leaves, who holds or is offered a seat may still decide."""
    await _open(connection, tenant, resource)
    now = await resources.clock(connection)
    return _shown(await resources.SQL["close"].row(connection, resource=resource, at=now))


async def resize(connection: Connection, *, tenant: str, resource: int, body: NewSize) -> Answer:
    """Set the capacity; seats that come free by it go to those who wait first."""
    room = await _open(connection, tenant, resource)
    free = body.capacity - room["occupied_count"]
    if free < 0:
        raise Refused(errors.CAPACITY_BELOW_OCCUPIED)
    now = await resources.clock(connection)
    promoted = await handover.promote(connection, room, free, now) if free else 0
    return _shown(
        await resources.SQL["resize"].row(
            connection, resource=resource, capacity=body.capacity, promoted=promoted
        )
    )


async def change_policy(connection: Connection, *, tenant: str, resource: int, body: NewPolicy) -> Answer:
    """Set the policy and raise its version: holds of an older one can only expire."""
    room = await _open(connection, tenant, resource)
    return _shown(
        await resources.SQL["change_policy"].row(
            connection,
            resource=resource,
            hold_ttl=_lifetime(body.hold_seconds, room["hold_ttl"]),
            offer_ttl=_lifetime(body.offer_seconds, room["offer_ttl"]),
            per_owner_limit=(
                room["per_owner_limit"] if body.per_owner_limit is msgspec.UNSET else body.per_owner_limit
            ),
        )
    )


async def _open(connection: Connection, tenant: str, resource: int) -> Any:
    room = await resources.lock(connection, tenant=tenant, resource=resource)
    if room["state"] != rules.ResourceState.OPEN:
        raise Refused(errors.RESOURCE_CLOSED)
    return room


def _lifetime(seconds: float | msgspec.UnsetType, standing: timedelta) -> timedelta:
    return standing if isinstance(seconds, msgspec.UnsetType) else timedelta(seconds=seconds)


def _shown(row: Any) -> Answer:
    return Answer(200, bodies.encoded(bodies.Resource.of(row)))
