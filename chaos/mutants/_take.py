"""The taking of a seat in pieces, for the planted bugs that take it otherwise than in the service's one statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import reword
from service import statements
from service.reservation import holds
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from service.errors import Refusal
    from service.reservation.holds import Order
    from service.statements import Statement

# Each of these is a part of a WITH, and reads from the one before it.
SAVED: Final = """\
occupied AS (
    UPDATE resources SET occupied_count = :occupied, revision = revision + 1
    WHERE id = :resource
    RETURNING id, tenant, revision, policy_version, hold_ttl, coalesce(:at::timestamptz, clock_timestamp()) AS at
)"""
"""Writes a count that was made before, whatever the count is by now."""

HELD: Final = """\
held AS (
    INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                       expires_at)
    SELECT tenant, id, :owner, :key, :quantity, policy_version, at, at + hold_ttl FROM occupied
    RETURNING *
)"""
"""Writes the hold."""

ANSWERED: Final = """\
answer AS (
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
RETURNING status, body"""
"""Tells of the hold, and stores under the key what is told."""

SQL: Final = {
    statement.name: statement
    for statement in statements.parse("""\
-- name: claim
-- Claims the key as the service does, so that of the rules only the one on the seats is broken.
INSERT INTO idempotency_records (tenant, operation, key, fingerprint, owner_token, lease_expires_at)
SELECT :tenant, :operation, :key, :fingerprint, '', clock_timestamp()
FROM resources AS r
WHERE r.id = :resource AND r.tenant = :tenant AND r.per_owner_limit IS NULL
ON CONFLICT (tenant, operation, key) DO NOTHING
RETURNING id

-- name: store
-- Stores a refusal under its key.
INSERT INTO idempotency_answers (record_id, status, body) VALUES (:record, :status, :body) RETURNING status, body
""")
}
_GUARD: Final = "WHEN occupied_count + $7::bigint > capacity THEN 'CAPACITY_EXHAUSTED'"
# The parameter stays, so that PostgreSQL goes on knowing its type.
_NO_GUARD: Final = "WHEN $7::bigint < 1 THEN 'CAPACITY_EXHAUSTED'"


async def claim(connection: Any, order: Order) -> int | None:
    """Claim a hold's key; None where it is known, or the resource is one of those with a limit per owner."""
    record: int | None = await SQL["claim"].value(
        connection, tenant=order.tenant, operation=holds.OPERATION, key=order.key, fingerprint=order.fingerprint,
        resource=order.resource,
    )  # fmt: skip
    return record


async def refuse(connection: Any, record: int, refusal: Refusal) -> Answer:
    """Store a refusal, and answer it."""
    row = await SQL["store"].row(connection, record=record, status=refusal.status, body=refusal.body)
    return Answer(row["status"], row["body"])


def drop_guard(named: dict[str, Statement]) -> None:
    """Let the service's one statement take a seat whether or not one is free."""
    reword(named, "take", was=_GUARD, now=_NO_GUARD)
