-- name: sweeps_are_bounded
-- sentence: A sweep takes one resource a transaction, and no more resources a tick or rows a transaction than the target allows.
-- needs: trail, holds.state, leader_leases.resources_max, leader_leases.rows_max
-- rests on: trail_complete
-- catches: sweep-aborts

-- looked at
SELECT count(DISTINCT commit_lsn) FROM steps
WHERE source IN ('holds', 'offers') AND present AND commit_lsn > 0 AND state = 'EXPIRED' AND before = 'ACTIVE';

-- counter-examples
-- A tick begins with the lease being won or renewed.
WITH swept AS (
    SELECT commit_lsn, count(DISTINCT resource) AS resources, any_value(resource) AS resource,
        greatest(count(*) FILTER (source = 'holds'), count(*) FILTER (source = 'offers')) AS rows
    FROM steps WHERE source IN ('holds', 'offers') AND present AND commit_lsn > 0 AND state = 'EXPIRED' AND before = 'ACTIVE'
    GROUP BY commit_lsn
),
ticks AS (
    SELECT s.*, l.commit_lsn AS tick_lsn, l.resources_max, l.rows_max
    FROM swept s ASOF JOIN (SELECT * FROM commits.leader_leases WHERE present) l ON l.commit_lsn < s.commit_lsn
)
SELECT commit_lsn, NULL AS resource, resources AS had, 1 AS may_have, 'resources in one transaction' AS what FROM swept WHERE resources > 1
UNION ALL
SELECT commit_lsn, resource, rows, rows_max, 'rows in one transaction' FROM ticks WHERE rows > rows_max
UNION ALL
SELECT max(commit_lsn), NULL, count(*), any_value(resources_max), 'resources in one tick' FROM ticks
GROUP BY tick_lsn HAVING count(*) > any_value(resources_max);
