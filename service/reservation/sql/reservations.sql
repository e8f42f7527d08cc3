-- name: find
-- Reads one reservation of the tenant and the time; after a lock, both as they are then.
SELECT *, coalesce(:at::timestamptz, clock_timestamp()) AS at
FROM reservations WHERE id = :reservation AND tenant = :tenant

-- name: cancel
-- Ends a confirmed reservation; its seats are handed over or released in the same transaction.
UPDATE reservations SET state = 'CANCELLED', revision = revision + 1, ended_at = :at
WHERE id = :reservation AND state = 'CONFIRMED'
RETURNING *
