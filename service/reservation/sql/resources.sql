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
