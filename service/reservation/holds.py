"""Holds: a seat or several, kept for one owner until it is confirmed, cancelled or its time is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from service import errors, statements
from service.errors import Refused
from service.reservation import bodies, claims, handover, idempotency, once, resources, rules
from service.reservation.idempotency import Answer, Answered, FingerprintConflict, Replay, Scope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import datetime, timedelta

    from service.database import Connection, Database
    from service.reservation.rules import Action

SQL: Final = statements.load("service.reservation", "holds")
OPERATION: Final = "hold"

# What the statement `take` may refuse with; everything else is refused before it.
_TAKE_REFUSALS: Final = (errors.RESOURCE_CLOSED, errors.CAPACITY_EXHAUSTED, errors.RESOURCE_REVISION_CONFLICT)
TOLD: Final[dict[str, object]] = {
    "codes": [refusal.code for refusal in _TAKE_REFUSALS],
    "statuses": [refusal.status for refusal in _TAKE_REFUSALS],
    "bodies": [refusal.body for refusal in _TAKE_REFUSALS],
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A plain hold that is asked for: `quantity` seats of `resource`, at `expected_revision` if one is given."""

    tenant: str
    owner_digest: str
    key: str
    resource: int
    quantity: int = 1
    expected_revision: int | None = None

    @property
    def scope(self) -> Scope:
        """Where the key is unique."""
        return Scope(tenant=self.tenant, operation=OPERATION, key=self.key)

    @property
    def fingerprint(self) -> str:
        """What must be the same for a repeated key to be a repeated command."""
        payload = [self.resource, self.quantity, self.expected_revision]
        return idempotency.fingerprint(OPERATION, payload, self.owner_digest)


async def place(
    database: Database,
    order: Order,
    *,
    lease: timedelta,
    decide: Callable[[Order], Awaitable[Answer | None]] | None = None,
) -> Answered:
    """Decide a hold, once per key, in one statement where nothing but the resource's own row must be known.

    `decide` may put several into one statement. Raises Refused for what is not stored under the key.
    """
    fresh = await (take_alone(database, order) if decide is None else decide(order))
    if fresh is not None:
        return Answered(fresh, replayed=False)
    known = await database.read(
        lambda connection: idempotency.recall(connection, order.scope, order.fingerprint)
    )
    match known:
        case Replay(status, body):
            return Answered(Answer(status, body), replayed=True)
        case FingerprintConflict():
            raise Refused(errors.IDEMPOTENCY_FINGERPRINT_CONFLICT)
    # No such resource, or one with a limit per owner.
    return await once.execute(
        database,
        order.scope,
        order.fingerprint,
        lambda connection: take_counted(connection, order),
        lease=lease,
    )


async def take_alone(database: Database, order: Order) -> Answer | None:
    """Decide a hold in a statement and a commit of its own; raises Refused."""
    return await database.autocommit(lambda connection: take(connection, order))


async def take(connection: Connection, order: Order, *, at: datetime | None = None) -> Answer | None:
    """Decide a hold in one statement that commits by itself; None where the key is known or no such resource is.

    Of an answer that was given everything is stored with it: the key, the count, the hold and the answer.
    """
    row = await SQL["take"].row(
        connection, tenant=order.tenant, operation=OPERATION, key=order.key, fingerprint=order.fingerprint,
        owner=order.owner_digest, resource=order.resource, quantity=order.quantity, expected=order.expected_revision,
        at=at, **TOLD,
    )  # fmt: skip
    return None if row is None else Answer(row["status"], row["body"])


async def take_counted(connection: Connection, order: Order, *, at: datetime | None = None) -> Answer:
    """Decide a hold of a resource whose owners are limited, in a transaction; raises Refused."""
    room = await resources.lock(connection, tenant=order.tenant, resource=order.resource)
    if room["state"] != rules.ResourceState.OPEN:
        raise Refused(errors.RESOURCE_CLOSED)
    if room["occupied_count"] + order.quantity > room["capacity"]:
        raise Refused(errors.CAPACITY_EXHAUSTED)
    if order.expected_revision not in (None, room["revision"]):
        raise Refused(errors.RESOURCE_REVISION_CONFLICT)
    await claims.within_limit(connection, room, order.owner_digest, order.quantity)
    hold = await SQL["take_locked"].row(
        connection,
        resource=order.resource,
        quantity=order.quantity,
        owner=order.owner_digest,
        key=order.key,
        at=at,
    )
    return Answer(201, bodies.encoded(bodies.TakenHold.of(hold)))


async def confirm(connection: Connection, action: Action) -> Answer:
    """Turn a live hold into a reservation; raises Refused."""
    _, hold = await _checked(connection, action)
    reservation = await SQL["confirm"].row(connection, hold=action.id, at=hold["at"])
    return Answer(201, bodies.encoded(bodies.Reservation.of(reservation)))


async def cancel(connection: Connection, action: Action) -> Answer:
    """End a live hold and hand its seats over; raises Refused."""
    room, hold = await _checked(connection, action)
    ended = await SQL["cancel"].row(connection, hold=action.id, at=hold["at"])
    await handover.promote_or_release(connection, room, ended["quantity"], hold["at"])
    return Answer(200, bodies.encoded(bodies.Hold.of(ended)))


async def _checked(connection: Connection, action: Action) -> tuple[Any, Any]:
    """Lock a hold's resource and return its row and the hold's, read afterwards; raises Refused."""
    # A hold never changes its resource: read unlocked to know what to lock, and again once the lock is had.
    seen = await find(connection, tenant=action.tenant, hold=action.id)
    room = await resources.lock(connection, tenant=action.tenant, resource=seen["resource_id"])
    hold = await SQL["look"].row(connection, hold=action.id, at=action.at)
    if (refusal := rules.hold_refusal(hold, action, policy_version=room["policy_version"])) is not None:
        raise Refused(refusal)
    return room, hold


async def find(connection: Connection, *, tenant: str, hold: int) -> Any:
    """Return a hold's row; raises Refused (HOLD_NOT_FOUND)."""
    row = await SQL["find"].row(connection, tenant=tenant, hold=hold)
    if row is None:
        raise Refused(errors.HOLD_NOT_FOUND)
    return row
