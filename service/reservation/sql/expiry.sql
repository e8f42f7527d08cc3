-- name: due
-- Names the resources whose holds or offers have outlived their time, the longest overdue first.
-- Only a search: each is judged again under its lock, so that the statement's start, which an index can use, is time enough.
SELECT resource_id, tenant FROM (
    SELECT resource_id, tenant, expires_at FROM holds
    WHERE state = 'ACTIVE' AND expires_at <= coalesce(:at::timestamptz, statement_timestamp())
    UNION ALL
    SELECT resource_id, tenant, expires_at FROM offers
    WHERE state = 'ACTIVE' AND expires_at <= coalesce(:at::timestamptz, statement_timestamp())
) AS overdue
WHERE resource_id <> ALL (:resting::bigint[])
GROUP BY resource_id, tenant
ORDER BY min(expires_at), resource_id
LIMIT :resources

-- name: expire_holds
-- Ends the resource's overdue holds, oldest first, up to a limit; `:at` was read after the lock on the resource.
WITH overdue AS MATERIALIZED (
    SELECT id FROM holds WHERE resource_id = :resource AND state = 'ACTIVE' AND expires_at <= :at
    ORDER BY expires_at, id LIMIT :rows
)
UPDATE holds AS h SET state = 'EXPIRED', revision = h.revision + 1, ended_at = :at, swept_by_term = :term
FROM overdue WHERE h.id = overdue.id AND h.state = 'ACTIVE'
RETURNING h.id, h.quantity

-- name: expire_offers
-- Ends the resource's overdue offers and their entries, up to a limit; `:at` was read after the lock on the resource.
WITH overdue AS MATERIALIZED (
    SELECT id FROM offers WHERE resource_id = :resource AND state = 'ACTIVE' AND expires_at <= :at
    ORDER BY expires_at, id LIMIT :rows
), ended AS (
    UPDATE offers AS o SET state = 'EXPIRED', revision = o.revision + 1, ended_at = :at, swept_by_term = :term
    FROM overdue WHERE o.id = overdue.id AND o.state = 'ACTIVE'
    RETURNING o.id, o.entry_id
)
UPDATE waitlist_entries AS e SET state = 'EXPIRED', revision = e.revision + 1, ended_at = :at
FROM ended WHERE e.id = ended.entry_id
RETURNING e.id
