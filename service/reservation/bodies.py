"""The shapes of requests and answers on the wire: camelCase JSON, unknown fields refused."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Positive = Annotated[int, msgspec.Meta(ge=1, le=2**53)]
Seconds = Annotated[float, msgspec.Meta(ge=0.001)]
Code = Annotated[str, msgspec.Meta(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9._:-]+$")]


class Request(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A request's body; every subclass names all the fields it takes."""


class Reply(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An answer's body."""

    @classmethod
    def of(cls, row: Any) -> Self:
        """Make it from a row that has a column for each of its fields."""
        return cls(**{field: row[field] for field in cls.__struct_fields__})


def encoded(body: Reply) -> str:
    """Return the body as JSON text."""
    return msgspec.json.encode(body).decode()


class NewResource(Request, frozen=True, kw_only=True):
    """A resource to be put on offer; lifetimes in seconds default to the service's settings."""

    code: Code
    capacity: Count
    hold_seconds: Seconds | None = None
    offer_seconds: Seconds | None = None
    per_owner_limit: Positive | None = None


class NewHold(Request, frozen=True, kw_only=True):
    """A hold that is asked for; with `expectedResourceRevision` only if nobody has changed the count since."""

    expected_resource_revision: Count | None = None
    quantity: Positive = 1


class Ask(Request, frozen=True, kw_only=True):
    """Something done to a row of one's own; with `expectedRevision` only if nothing has changed it since."""

    expected_revision: Count | None = None


class NewSize(Request, frozen=True, kw_only=True):
    """The capacity that a resource is to have."""

    capacity: Count


class NewPolicy(Request, frozen=True, kw_only=True):
    """The policy that a resource is to have; what is left out stays as it is."""

    hold_seconds: Seconds | msgspec.UnsetType = msgspec.UNSET
    offer_seconds: Seconds | msgspec.UnsetType = msgspec.UNSET
    per_owner_limit: Positive | msgspec.UnsetType | None = msgspec.UNSET


class Resource(Reply, frozen=True, kw_only=True):
    """A resource and its count; `availableCount` is what a new hold could still take."""

    id: int
    code: str
    capacity: int
    occupied_count: int
    available_count: int
    revision: int
    state: str
    policy_version: int
    hold_seconds: float
    offer_seconds: float
    per_owner_limit: int | None

    @classmethod
    def of(cls, row: Any) -> Self:
        """Make it from a row of `resources`."""
        return cls(
            id=row["id"],
            code=row["code"],
            capacity=row["capacity"],
            occupied_count=row["occupied_count"],
            available_count=row["capacity"] - row["occupied_count"],
            revision=row["revision"],
            state=row["state"],
            policy_version=row["policy_version"],
            hold_seconds=row["hold_ttl"].total_seconds(),
            offer_seconds=row["offer_ttl"].total_seconds(),
            per_owner_limit=row["per_owner_limit"],
        )


class ResourcePage(Reply, frozen=True, kw_only=True):
    """Some of the tenant's resources; `nextAfter` asks for those that follow."""

    resources: list[Resource]
    next_after: int | None


class Hold(Reply, frozen=True, kw_only=True):
    """A hold as it stands; `resourceRevision` is told only by the answer that created it."""

    id: int
    resource_id: int
    quantity: int
    state: str
    revision: int
    policy_version: int
    created_at: datetime
    expires_at: datetime


class TakenHold(Hold, frozen=True, kw_only=True):
    """The hold that a command created."""

    resource_revision: int


class Entry(Reply, frozen=True, kw_only=True):
    """A place in the line; `offerId` names the offer that it got."""

    id: int
    resource_id: int
    seq: int
    state: str
    revision: int
    reason: str | None
    offer_id: int | None
    created_at: datetime


class Offer(Reply, frozen=True, kw_only=True):
    """A seat offered to one waiter for a while."""

    id: int
    resource_id: int
    entry_id: int
    state: str
    revision: int
    created_at: datetime
    expires_at: datetime


class Reservation(Reply, frozen=True, kw_only=True):
    """Seats that are somebody's: from a hold that was confirmed or an offer that was accepted."""

    id: int
    resource_id: int
    hold_id: int | None
    offer_id: int | None
    quantity: int
    state: str
    revision: int
    created_at: datetime


class OfferCreated(Reply, frozen=True, kw_only=True):
    """What a waiter is told when a seat is offered."""

    offer_id: int
    entry_id: int
    resource_id: int
    expires_at: datetime
