"""Two seats are asked for and one is left: it is taken, the other is refused, and the first is not given back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from chaos.mutants import Mutant
from service import errors, statements
from service.reservation import holds
from service.reservation.idempotency import Answer

if TYPE_CHECKING:
    from datetime import datetime

    from service.reservation.holds import Order

MUTANT: Final = Mutant(
    name="partial-acquire",
    mechanism="Takes several seats one by one, each in a commit of its own, and keeps what it has when the next is refused.",
    section="capacity",
    reports=("medusajs/medusa#16285",),
    scenario="change_of_plans",
    caught_by=("occupancy_matches_claims", "sold_out_is_true"),
)

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

-- name: seat
-- Takes one seat, if one is free.
UPDATE resources SET occupied_count = occupied_count + 1, revision = revision + 1
WHERE id = :resource AND state = 'OPEN' AND occupied_count < capacity
RETURNING id

-- name: hold
-- Writes the hold of the seats that were taken, and its answer.
WITH held AS (
    INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                       expires_at)
    SELECT r.tenant, r.id, :owner, :key, :quantity, r.policy_version, now.at, now.at + r.hold_ttl
    FROM resources AS r, (SELECT coalesce(:at::timestamptz, clock_timestamp()) AS at) AS now
    WHERE r.id = :resource
    RETURNING *
), answer AS (
    SELECT row_to_json(body)::text AS body FROM (
        SELECT h.id, h.resource_id AS "resourceId", h.quantity, h.state, h.revision,
               h.policy_version AS "policyVersion",
               to_char(h.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "createdAt",
               to_char(h.expires_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "expiresAt",
               r.revision AS "resourceRevision"
        FROM held AS h JOIN resources AS r ON r.id = h.resource_id
    ) AS body
)
INSERT INTO idempotency_answers (record_id, status, body) SELECT :record, 201, answer.body FROM answer
RETURNING status, body

-- name: store
-- Stores a refusal under its key.
INSERT INTO idempotency_answers (record_id, status, body) VALUES (:record, :status, :body) RETURNING status, body
""")
}
_take = holds.take


def plant() -> None:
    """Let those who ask for several seats be served seat by seat."""
    holds.take = take


async def take(connection: Any, order: Order, *, at: datetime | None = None) -> Answer | None:
    """Decide a hold of one seat as the service does, and one of several in a commit for each."""
    if order.quantity == 1:
        return await _take(connection, order, at=at)
    record = await SQL["claim"].value(
        connection, tenant=order.tenant, operation=holds.OPERATION, key=order.key, fingerprint=order.fingerprint,
        resource=order.resource,
    )  # fmt: skip
    if record is None:
        return None
    for _ in range(order.quantity):
        if await SQL["seat"].value(connection, resource=order.resource) is None:
            full = errors.CAPACITY_EXHAUSTED
            row = await SQL["store"].row(connection, record=record, status=full.status, body=full.body)
            return Answer(row["status"], row["body"])
    row = await SQL["hold"].row(
        connection, resource=order.resource, at=at, owner=order.owner_digest, key=order.key, quantity=order.quantity,
        record=record,
    )  # fmt: skip
    return Answer(row["status"], row["body"])
