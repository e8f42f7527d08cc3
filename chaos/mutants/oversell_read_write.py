"""The seat is looked up and then taken, in two statements: two buyers both find the last one free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service import errors, statements
from service.reservation import holds
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from datetime import datetime

    from service.errors import Refusal
    from service.reservation.holds import Order

MUTANT: Final = Mutant(
    name="oversell-read-write",
    mechanism="Reads the occupied count, decides, then writes the count that it read plus its own seats.",
    section="capacity",
    reports=(
        "saleor/saleor#543",
        "vendurehq/vendure#4930",
        "nopSolutions/nopCommerce#4184",
        "opencart/opencart#4811",
        "cubecart/v6#4224",
        "tryshoppe/shoppe#403",
        "Paymenter/Paymenter#965",
        "eventespresso/event-espresso-core#109",
        "awesto/django-shop#888",
    ),
    scenario="last_seat_race",
    caught_by=("never_oversold",),
    racy=True,
    faults=("latency:pg=100ms",),
)

SQL: Final = {
    statement.name: statement
    for statement in statements.parse("""\
-- name: claim
-- Claims the key as the service does, so that of the rules only the one on capacity is broken.
INSERT INTO idempotency_records (tenant, operation, key, fingerprint, owner_token, lease_expires_at)
SELECT :tenant, :operation, :key, :fingerprint, '', clock_timestamp()
FROM resources AS r
WHERE r.id = :resource AND r.tenant = :tenant AND r.per_owner_limit IS NULL
ON CONFLICT (tenant, operation, key) DO NOTHING
RETURNING id

-- name: look
-- Reads what is free, without a lock: what it says may be over by the next statement.
SELECT state, capacity, occupied_count, revision FROM resources WHERE id = :resource AND tenant = :tenant

-- name: take
-- Writes the count that was read plus the new seats, whatever the count is by now; hold and answer go with it.
WITH occupied AS (
    UPDATE resources SET occupied_count = :occupied, revision = revision + 1
    WHERE id = :resource
    RETURNING id, tenant, revision, policy_version, hold_ttl, coalesce(:at::timestamptz, clock_timestamp()) AS at
), held AS (
    INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                       expires_at)
    SELECT tenant, id, :owner, :key, :quantity, policy_version, at, at + hold_ttl FROM occupied
    RETURNING *
), answer AS (
    SELECT row_to_json(body)::text AS body FROM (
        SELECT h.id, h.resource_id AS "resourceId", h.quantity, h.state, h.revision,
               h.policy_version AS "policyVersion",
               to_char(h.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "createdAt",
               to_char(h.expires_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "expiresAt",
               occupied.revision AS "resourceRevision"
        FROM held AS h, occupied
    ) AS body
)
INSERT INTO idempotency_answers (record_id, status, body) SELECT :record, 201, answer.body FROM answer
RETURNING status, body

-- name: store
-- Stores a refusal under its key.
INSERT INTO idempotency_answers (record_id, status, body) VALUES (:record, :status, :body) RETURNING status, body
""")
}


def plant() -> None:
    """Put the two-step take in the place of the service's one statement."""
    holds.take = take


async def take(connection: Any, order: Order, *, at: datetime | None = None) -> Answer | None:
    """Decide a hold in one READ COMMITTED transaction, but not in one statement."""
    async with connection.transaction():
        record = await SQL["claim"].value(
            connection, tenant=order.tenant, operation=holds.OPERATION, key=order.key, fingerprint=order.fingerprint,
            resource=order.resource,
        )  # fmt: skip
        if record is None:
            return None
        seen = await SQL["look"].row(connection, resource=order.resource, tenant=order.tenant)
        if (refusal := _refusal(seen, order)) is not None:
            row = await SQL["store"].row(connection, record=record, status=refusal.status, body=refusal.body)
        else:
            # One statement, so that a slow database keeps the row locked no longer than it must.
            row = await SQL["take"].row(
                connection, resource=order.resource, occupied=seen["occupied_count"] + order.quantity, at=at,
                owner=order.owner_digest, key=order.key, quantity=order.quantity, record=record,
            )  # fmt: skip
        return Answer(row["status"], row["body"])


def _refusal(seen: Any, order: Order) -> Refusal | None:
    if seen["state"] != "OPEN":
        return errors.RESOURCE_CLOSED
    if seen["occupied_count"] + order.quantity > seen["capacity"]:
        return errors.CAPACITY_EXHAUSTED
    if order.expected_revision not in (None, seen["revision"]):
        return errors.RESOURCE_REVISION_CONFLICT
    return None
