-- name: peek
-- Reads who leads and whether the lease still runs, without waiting for the leader's own transactions.
SELECT holder, term, expires_at > coalesce(:at::timestamptz, clock_timestamp()) AS live
FROM leader_leases WHERE slot = :slot

-- name: elect
-- Renews one's own lease, or takes a lapsed one with the next term; the row is locked before its deadline is compared.
INSERT INTO leader_leases AS held (slot, holder, term, expires_at)
VALUES (:slot, :holder, 1, coalesce(:at::timestamptz, clock_timestamp()) + :lease::interval)
ON CONFLICT (slot) DO UPDATE
SET holder = excluded.holder,
    term = held.term + CASE WHEN held.holder = :holder
                             AND held.expires_at > coalesce(:at::timestamptz, clock_timestamp()) THEN 0 ELSE 1 END,
    expires_at = coalesce(:at::timestamptz, clock_timestamp()) + :lease::interval
WHERE held.holder = :holder OR held.expires_at <= coalesce(:at::timestamptz, clock_timestamp())
RETURNING term

-- name: fence
-- Holds the lease still for one transaction if the term still is this leader's; no row means that it must stop.
-- FOR SHARE: a rival's election waits for it. A condition inside a later UPDATE, or FOR KEY SHARE, would not hold it off.
SELECT term FROM leader_leases WHERE slot = :slot AND term = :term AND holder = :holder FOR SHARE

-- name: resign
-- Ends one's own lease early, so that the next leader need not wait for it.
UPDATE leader_leases SET expires_at = clock_timestamp() WHERE slot = :slot AND term = :term AND holder = :holder
