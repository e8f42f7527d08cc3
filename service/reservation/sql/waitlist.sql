-- name: join
-- Puts an owner at the end of the line; the place is drawn under the lock on the resource, so that places are in order.
INSERT INTO waitlist_entries (tenant, resource_id, seq, owner_digest, idempotency_key, created_at)
VALUES (:tenant, :resource, nextval('waitlist_seq'), :owner, :key, :at)
RETURNING *, NULL::bigint AS offer_id

-- name: find
-- Reads one entry of the tenant with the offer that it got, if it got one.
SELECT e.*, o.id AS offer_id, coalesce(:at::timestamptz, clock_timestamp()) AS at
FROM waitlist_entries AS e LEFT JOIN offers AS o ON o.entry_id = e.id
WHERE e.id = :entry AND e.tenant = :tenant

-- name: leave
-- Takes a waiting owner out of the line.
UPDATE waitlist_entries SET state = 'LEFT', reason = 'LEFT', revision = revision + 1, ended_at = :at
WHERE id = :entry AND state = 'WAITING'
RETURNING *, NULL::bigint AS offer_id

-- name: promote
-- Offers seats to those who have waited longest; the count of the resource does not move.
WITH line AS MATERIALIZED (
    SELECT id FROM waitlist_entries
    WHERE resource_id = :resource AND state = 'WAITING'
    ORDER BY seq LIMIT :seats
), promoted AS (
    UPDATE waitlist_entries AS e SET state = 'OFFERED', revision = e.revision + 1
    FROM line WHERE e.id = line.id
    RETURNING e.id, e.tenant, e.resource_id, e.owner_digest, e.seq
), offered AS (
    INSERT INTO offers (tenant, resource_id, entry_id, owner_digest, created_at, expires_at)
    SELECT tenant, resource_id, id, owner_digest, :at::timestamptz, :at::timestamptz + :offer_ttl::interval
    FROM promoted ORDER BY seq
    RETURNING id, tenant, resource_id, entry_id, expires_at
)
SELECT id, entry_id, expires_at FROM offered ORDER BY id
