-- name: enqueue
-- Puts notices in the outbox, each once per delivery id, in the transaction of the change that they tell of.
INSERT INTO notification_outbox (tenant, delivery_id, kind, payload, next_attempt_at, created_at)
SELECT :tenant, notice.delivery, notice.kind, notice.payload, :at, :at
FROM unnest(:deliveries::text[], :kinds::text[], :payloads::text[])
    WITH ORDINALITY AS notice (delivery, kind, payload, place)
ORDER BY place
ON CONFLICT (delivery_id) DO NOTHING
RETURNING delivery_id

-- name: exhaust
-- Ends the notices whose last allowed attempt was claimed and never heard of again.
UPDATE notification_outbox
SET state = 'EXHAUSTED', claim_token = NULL, claim_expires_at = NULL,
    ended_at = coalesce(:at::timestamptz, clock_timestamp())
WHERE state = 'CLAIMED' AND attempt_count >= :attempts
  AND claim_expires_at <= coalesce(:at::timestamptz, statement_timestamp())
RETURNING delivery_id

-- name: claim
-- Claims notices whose time has come or whose claim has lapsed; the attempt is counted now, so that a crash counts too.
-- Rows that another worker is claiming are passed over, for order between notices means nothing here.
WITH due AS MATERIALIZED (
    SELECT id FROM notification_outbox
    WHERE (state = 'PENDING' AND next_attempt_at <= coalesce(:at::timestamptz, statement_timestamp())
           OR state = 'CLAIMED' AND claim_expires_at <= coalesce(:at::timestamptz, statement_timestamp()))
      AND attempt_count < :attempts
      AND (:delivery::text IS NULL OR delivery_id = :delivery)
    ORDER BY coalesce(next_attempt_at, claim_expires_at), id LIMIT :batch
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE notification_outbox AS n
SET state = 'CLAIMED', attempt_count = n.attempt_count + 1, next_attempt_at = NULL, claim_token = :token,
    claim_expires_at = coalesce(:at::timestamptz, clock_timestamp()) + :lease::interval
FROM due WHERE n.id = due.id
RETURNING n.delivery_id, n.kind, n.payload, n.attempt_count

-- name: mark_delivered
-- Ends a notice that the provider has taken, if the claim still is this worker's.
UPDATE notification_outbox
SET state = 'DELIVERED', claim_token = NULL, claim_expires_at = NULL,
    ended_at = coalesce(:at::timestamptz, clock_timestamp())
WHERE delivery_id = :delivery AND state = 'CLAIMED' AND claim_token = :token
RETURNING state

-- name: mark_failed
-- Puts a notice back for another attempt, or ends it after the last, if the claim still is this worker's.
UPDATE notification_outbox
SET state = CASE WHEN attempt_count < :attempts THEN 'PENDING' ELSE 'EXHAUSTED' END,
    next_attempt_at = CASE WHEN attempt_count < :attempts
        THEN coalesce(:at::timestamptz, clock_timestamp()) + :delay::interval END,
    ended_at = CASE WHEN attempt_count < :attempts THEN NULL ELSE coalesce(:at::timestamptz, clock_timestamp()) END,
    claim_token = NULL, claim_expires_at = NULL
WHERE delivery_id = :delivery AND state = 'CLAIMED' AND claim_token = :token
RETURNING state, next_attempt_at

-- name: depth
-- Counts what is still to be sent.
SELECT count(*) FROM notification_outbox WHERE state IN ('PENDING', 'CLAIMED')
