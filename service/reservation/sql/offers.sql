-- name: find
-- Reads one offer of the tenant and the time; after a lock, both as they are then.
SELECT *, coalesce(:at::timestamptz, clock_timestamp()) AS at FROM offers WHERE id = :offer AND tenant = :tenant

-- name: accept
-- Turns a live offer into a reservation: the seat was counted all the time and stays so.
WITH ended AS (
    UPDATE offers SET state = 'ACCEPTED', revision = revision + 1, ended_at = :at
    WHERE id = :offer AND state = 'ACTIVE'
    RETURNING *
), entered AS (
    UPDATE waitlist_entries AS e SET state = 'ACCEPTED', revision = e.revision + 1, ended_at = :at
    FROM ended WHERE e.id = ended.entry_id
)
INSERT INTO reservations (tenant, resource_id, offer_id, owner_digest, quantity, created_at)
SELECT tenant, resource_id, id, owner_digest, 1, ended_at FROM ended
RETURNING *

-- name: decline
-- Ends a live offer at its owner's wish; the seat goes on to the next waiter in the same transaction.
WITH ended AS (
    UPDATE offers SET state = 'DECLINED', revision = revision + 1, ended_at = :at
    WHERE id = :offer AND state = 'ACTIVE'
    RETURNING *
), entered AS (
    UPDATE waitlist_entries AS e SET state = 'DECLINED', revision = e.revision + 1, ended_at = :at
    FROM ended WHERE e.id = ended.entry_id
)
SELECT * FROM ended
