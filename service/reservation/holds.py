"""Holds: a seat or several, kept for one owner until it is confirmed, cancelled or its time is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from service import errors, statements
from service.errors import Refused
from service.reservation import idempotency
from service.reservation.idempotency import Answer, Answered, FingerprintConflict, Replay, Scope

if TYPE_CHECKING:
    from datetime import datetime

    from service.database import Connection, Database

SQL: Final = statements.load("service.reservation", "holds")
OPERATION: Final = "hold"

# What the statement `take` may refuse with; everything else is refused before it.
_TAKE_REFUSALS: Final = (errors.RESOURCE_CLOSED, errors.CAPACITY_EXHAUSTED, errors.RESOURCE_REVISION_CONFLICT)
_TOLD: Final = {
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


async def place(database: Database, order: Order) -> Answered:
    """Decide a hold, once per key; raises Refused for what is not stored under it."""
    fresh = await database.autocommit(lambda connection: take(connection, order))
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
    raise Refused(errors.RESOURCE_NOT_FOUND)


async def take(connection: Connection, order: Order, *, at: datetime | None = None) -> Answer | None:
    """Decide a hold in one statement that commits by itself; None where the key is known or no such resource is.

    Of an answer that was given everything is stored with it: the key, the count, the hold and the answer.
    """
    row = await SQL["take"].row(
        connection, tenant=order.tenant, operation=OPERATION, key=order.key, fingerprint=order.fingerprint,
        owner=order.owner_digest, resource=order.resource, quantity=order.quantity, expected=order.expected_revision,
        at=at, **_TOLD,
    )  # fmt: skip
    return None if row is None else Answer(row["status"], row["body"])


async def find(connection: Connection, *, tenant: str, hold: int) -> Any:
    """Return a hold's row; raises Refused (HOLD_NOT_FOUND)."""
    row = await SQL["find"].row(connection, tenant=tenant, hold=hold)
    if row is None:
        raise Refused(errors.HOLD_NOT_FOUND)
    return row
