-- name: take
-- Decides a plain hold in one statement: key, lock, conditional update, hold and stored answer, or none of them.
-- Everything reads from `fresh`, so that a known key touches nothing. The conditions are those of the locked row: on the
-- row that the UPDATE finds they would be those of this statement's start, and refuse a seat freed while it waited.
WITH fresh AS (
    INSERT INTO idempotency_records (tenant, operation, key, fingerprint, owner_token, lease_expires_at)
    SELECT :tenant, :operation, :key, :fingerprint, '', clock_timestamp()
    FROM resources AS r
    WHERE r.id = :resource AND r.tenant = :tenant AND r.per_owner_limit IS NULL
    ON CONFLICT (tenant, operation, key) DO NOTHING
    RETURNING id
), locked AS MATERIALIZED (
    SELECT fresh.id AS record_id, r.id, r.state, r.capacity, r.occupied_count, r.revision, r.policy_version, r.hold_ttl,
           r.per_owner_limit
    FROM resources AS r, fresh
    WHERE r.id = :resource AND r.tenant = :tenant
    FOR NO KEY UPDATE OF r
), decided AS MATERIALIZED (
    SELECT locked.*, coalesce(:at::timestamptz, clock_timestamp()) AS at,
           CASE WHEN per_owner_limit IS NOT NULL THEN 'COUNTED_ELSEWHERE'
                WHEN state <> 'OPEN' THEN 'RESOURCE_CLOSED'
                WHEN occupied_count + :quantity::bigint > capacity THEN 'CAPACITY_EXHAUSTED'
                WHEN revision <> :expected::bigint THEN 'RESOURCE_REVISION_CONFLICT'
           END AS refusal
    FROM locked
), occupied AS (
    UPDATE resources AS r SET occupied_count = r.occupied_count + :quantity, revision = r.revision + 1
    FROM decided AS d WHERE r.id = d.id AND d.refusal IS NULL
    RETURNING r.id, r.revision
), held AS (
    INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                       expires_at)
    SELECT :tenant, d.id, :owner, :key, :quantity, d.policy_version, d.at, d.at + d.hold_ttl
    FROM decided AS d JOIN occupied USING (id)
    RETURNING *
), answer AS (
    SELECT 201 AS status, (
        SELECT row_to_json(body)::text FROM (
            SELECT h.id, h.resource_id AS "resourceId", h.quantity, h.state, h.revision,
                   h.policy_version AS "policyVersion",
                   to_char(h.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "createdAt",
                   to_char(h.expires_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "expiresAt",
                   occupied.revision AS "resourceRevision"
        ) AS body
    ) AS body
    FROM held AS h, occupied
    UNION ALL
    SELECT told.status, told.body
    FROM decided AS d
    JOIN unnest(:codes::text[], :statuses::int[], :bodies::text[]) AS told (code, status, body) ON told.code = d.refusal
), stored AS (
    INSERT INTO idempotency_answers (record_id, status, body)
    SELECT d.record_id, answer.status, answer.body FROM decided AS d, answer
    RETURNING status, body
)
SELECT status, body FROM stored

-- name: find
-- Reads one hold of the tenant.
SELECT id, resource_id, owner_digest, quantity, state, revision, policy_version, created_at, expires_at, ended_at
FROM holds WHERE id = :hold AND tenant = :tenant

-- name: take_locked
-- Takes seats of a resource that this transaction has locked and found free: the count and the hold move together.
WITH occupied AS (
    UPDATE resources SET occupied_count = occupied_count + :quantity, revision = revision + 1
    WHERE id = :resource AND state = 'OPEN' AND occupied_count + :quantity <= capacity
    RETURNING id, tenant, revision, policy_version, hold_ttl, coalesce(:at::timestamptz, clock_timestamp()) AS at
), held AS (
    INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                       expires_at)
    SELECT tenant, id, :owner, :key, :quantity, policy_version, at, at + hold_ttl FROM occupied
    RETURNING *
)
SELECT held.*, occupied.revision AS resource_revision FROM held, occupied

-- name: look
-- Reads a hold and the time, both after the lock on its resource was had.
SELECT *, coalesce(:at::timestamptz, clock_timestamp()) AS at FROM holds WHERE id = :hold

-- name: confirm
-- Turns a live hold into a reservation: the seats stay counted, only their claim changes.
WITH ended AS (
    UPDATE holds SET state = 'CONFIRMED', revision = revision + 1, ended_at = :at
    WHERE id = :hold AND state = 'ACTIVE'
    RETURNING *
)
INSERT INTO reservations (tenant, resource_id, hold_id, owner_digest, quantity, created_at)
SELECT tenant, resource_id, id, owner_digest, quantity, ended_at FROM ended
RETURNING *

-- name: cancel
-- Ends a live hold at its owner's wish; its seats are handed over or released in the same transaction.
UPDATE holds SET state = 'CANCELLED', revision = revision + 1, ended_at = :at
WHERE id = :hold AND state = 'ACTIVE'
RETURNING *
