"""The end of what has outlived its time: one transaction a resource, its seats handed over or released in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from service import statements
from service.reservation import handover, resources

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from service.database import Connection

SQL: Final = statements.load("service.reservation", "expiry")


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """A resource with something that has outlived its time."""

    resource: int
    tenant: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """What one resource's transaction did."""

    expired_holds: int = 0
    expired_offers: int = 0
    promoted_entries: int = 0


async def find_due(
    connection: Connection, *, limit: int, resting: Sequence[int] = (), at: datetime | None = None
) -> list[Due]:
    """Return up to `limit` resources with something overdue, the longest overdue first, `resting` ones left out."""
    rows = await SQL["due"].rows(connection, resources=limit, resting=list(resting), at=at)
    return [Due(resource=row["resource_id"], tenant=row["tenant"]) for row in rows]


async def finalize_expired_resource(
    connection: Connection, due: Due, *, rows: int, term: int | None = None, at: datetime | None = None
) -> Summary:
    """End a resource's overdue holds and offers (up to `rows` of each) in the transaction of `connection`."""
    room = await resources.lock(connection, tenant=due.tenant, resource=due.resource)
    now = await resources.clock(connection, at)
    holds = await SQL["expire_holds"].rows(connection, resource=due.resource, at=now, rows=rows, term=term)
    offers = await SQL["expire_offers"].rows(connection, resource=due.resource, at=now, rows=rows, term=term)
    seats = sum(hold["quantity"] for hold in holds) + len(offers)
    promoted = await handover.promote_or_release(connection, room, seats, now) if seats else 0
    return Summary(expired_holds=len(holds), expired_offers=len(offers), promoted_entries=promoted)
