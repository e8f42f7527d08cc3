-- name: create
-- Puts a new resource on offer; a code that the tenant already uses gives no row.
INSERT INTO resources (tenant, code, capacity, hold_ttl, offer_ttl, per_owner_limit)
VALUES (:tenant, :code, :capacity, :hold_ttl, :offer_ttl, :per_owner_limit)
ON CONFLICT (tenant, code) DO NOTHING
RETURNING *

-- name: find
-- Reads one resource of the tenant, without locking it.
SELECT * FROM resources WHERE id = :resource AND tenant = :tenant

-- name: page
-- Reads the tenant's resources in the order of their ids, from behind the last one that was seen.
SELECT * FROM resources WHERE tenant = :tenant AND id > :after ORDER BY id LIMIT :rows

-- name: lock
-- Locks one resource of the tenant; only this row may be believed of this statement, and everything else is read later.
-- NO KEY: a hold inserted before it holds a key share on the row, and two such would wait for each other for ever.
SELECT * FROM resources WHERE id = :resource AND tenant = :tenant FOR NO KEY UPDATE

-- name: clock
-- Reads the database's time, in a statement of its own after the last lock.
SELECT coalesce(:at::timestamptz, clock_timestamp())

-- name: close
-- Ends the offer of a resource and sends everybody who still waits for it away.
WITH sent_away AS (
    UPDATE waitlist_entries SET state = 'LEFT', reason = 'CLOSED', revision = revision + 1, ended_at = :at
    WHERE resource_id = :resource AND state = 'WAITING'
)
UPDATE resources SET state = 'CLOSED' WHERE id = :resource AND state = 'OPEN' RETURNING *

-- name: resize
-- Sets the capacity, and counts the seats that went to waiters with it.
UPDATE resources
SET capacity = :capacity, occupied_count = occupied_count + :promoted,
    revision = revision + CASE WHEN :promoted > 0 THEN 1 ELSE 0 END
WHERE id = :resource
RETURNING *

-- name: change_policy
-- Sets the policy and its next version; holds of the version before can only expire.
UPDATE resources
SET policy_version = policy_version + 1, hold_ttl = :hold_ttl, offer_ttl = :offer_ttl,
    per_owner_limit = :per_owner_limit
WHERE id = :resource
RETURNING *

-- name: release
-- Gives back seats that nobody waits for.
UPDATE resources SET occupied_count = occupied_count - :quantity, revision = revision + 1 WHERE id = :resource
