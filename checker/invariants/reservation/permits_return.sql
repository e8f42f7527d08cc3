-- name: permits_return
-- sentence: There are never more permits out than there are, and all have come back when their leases are over.
-- needs: operations, samples
-- rests on: history_complete
-- catches: permit-leak

-- looked at
-- Nothing is too many, or too late, where nobody knows how many there are or how long they last.
SELECT count(*) FROM samples WHERE source = 'redis' AND metric = 'permits' AND (
    SELECT bool_or(metric = 'permits_max') AND bool_or(metric = 'permit_lease_seconds') FROM samples WHERE source = 'redis'
);

-- counter-examples
-- Samples of source `redis`: `permits_out` (during the run) and `permits` (at rest), lapsed ones not counted, `permits_max`
-- (how many there are) and `permit_lease_seconds` (after which a permit comes back by itself). Whoever asked last has lost
-- its permit a lease later.
WITH taken AS (
    SELECT mono_ns, value, metric = 'permits' AS rests FROM samples WHERE source = 'redis' AND metric IN ('permits', 'permits_out')
),
limits AS (
    SELECT max(value) FILTER (metric = 'permits_max') AS permits_max, max(value) FILTER (metric = 'permit_lease_seconds') AS lease_seconds
    FROM samples WHERE source = 'redis'
),
rest AS (SELECT max(coalesce(done_ns, sent_ns)) + (SELECT lease_seconds FROM limits) * 1e9 AS from_ns FROM operations)
SELECT t.mono_ns AS at_ns, CAST(t.value AS BIGINT) AS permits, CASE
        WHEN t.value > l.permits_max THEN 'there are only ' || CAST(l.permits_max AS BIGINT) ELSE 'every lease was over' END AS but
FROM taken t, limits l, rest r WHERE t.value > l.permits_max OR t.rests AND t.value > 0 AND t.mono_ns > r.from_ns;
