-- name: claim
-- Claims a key that nobody has used; of twins that arrive together one inserts and the other gets no row.
INSERT INTO idempotency_records (tenant, operation, key, fingerprint, owner_token, lease_expires_at)
VALUES (:tenant, :operation, :key, :fingerprint, :token,
        coalesce(:at::timestamptz, clock_timestamp()) + :lease::interval)
ON CONFLICT (tenant, operation, key) DO NOTHING
RETURNING id

-- name: recall
-- Reads what is known of a key: whose command it is, until when somebody works on it, and its answer if there is one.
SELECT r.id, r.fingerprint, r.owner_token, r.lease_expires_at,
       r.lease_expires_at - coalesce(:at::timestamptz, clock_timestamp()) AS remaining,
       a.status, a.body
FROM idempotency_records AS r LEFT JOIN idempotency_answers AS a ON a.record_id = r.id
WHERE r.tenant = :tenant AND r.operation = :operation AND r.key = :key

-- name: lock
-- Locks a record in a statement of its own, so that the next statement sees what its last worker committed.
SELECT id FROM idempotency_records WHERE id = :record FOR NO KEY UPDATE

-- name: take_over
-- Takes over a lapsed claim: compare-and-set on the token and the deadline that were read.
UPDATE idempotency_records
SET owner_token = :token, lease_expires_at = coalesce(:at::timestamptz, clock_timestamp()) + :lease::interval
WHERE id = :record AND owner_token = :seen_token AND lease_expires_at = :seen_deadline
RETURNING id

-- name: stand
-- Locks the record if the claim on it still is this worker's; no row means that the work must stop.
SELECT id FROM idempotency_records WHERE id = :record AND owner_token = :token FOR NO KEY UPDATE

-- name: finalize
-- Stores the answer if the claim still is this worker's, checked again on the row as it is once its lock is had.
WITH mine AS MATERIALIZED (
    SELECT id FROM idempotency_records WHERE id = :record AND owner_token = :token FOR NO KEY UPDATE
)
INSERT INTO idempotency_answers (record_id, status, body) SELECT id, :status, :body FROM mine
ON CONFLICT (record_id) DO NOTHING
RETURNING record_id

-- name: give_up
-- Ends a claim whose work certainly had no effect, so that a retry need not wait for the lease.
UPDATE idempotency_records SET lease_expires_at = clock_timestamp()
WHERE tenant = :tenant AND operation = :operation AND key = :key AND owner_token = :token
  AND lease_expires_at > clock_timestamp()
