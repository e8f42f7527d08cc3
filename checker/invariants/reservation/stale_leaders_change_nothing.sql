-- name: stale_leaders_change_nothing
-- sentence: Whatever is swept is swept by the leader of the term that runs at that commit.
-- needs: trail, holds.state, holds.term, leader_leases.term
-- rests on: trail_complete
-- catches: two-leaders

-- looked at
-- Holds say under which term they were swept; of offers some targets do not keep it.
SELECT count(*) FROM steps
WHERE (source = 'holds' OR source = 'offers' AND (SELECT offer_terms FROM offered))
    AND present AND commit_lsn > 0 AND state = 'EXPIRED' AND before = 'ACTIVE';

-- counter-examples
WITH swept AS (
    SELECT 'holds' AS kind, id, resource, commit_lsn, state, term, slot, lag(state) OVER (PARTITION BY row_key ORDER BY commit_lsn) AS before
    FROM commits.holds WHERE present
    UNION ALL
    SELECT 'offers', id, resource, commit_lsn, state, term, slot, lag(state) OVER (PARTITION BY row_key ORDER BY commit_lsn)
    FROM commits.offers WHERE present AND (SELECT offer_terms FROM offered)
),
named AS (
    -- Where a target does not say whose term it is, it has one slot.
    SELECT * REPLACE (coalesce(slot, (SELECT min(slot) FROM commits.leader_leases)) AS slot)
    FROM swept WHERE commit_lsn > 0 AND state = 'EXPIRED' AND before = 'ACTIVE'
),
leases AS (SELECT slot, commit_lsn, term FROM commits.leader_leases WHERE present)
SELECT n.commit_lsn, n.resource, n.kind, n.id, CASE WHEN n.kind = 'holds' THEN n.id END AS hold, n.term AS by_term, l.term AS running_term
FROM named n ASOF LEFT JOIN leases l ON l.slot = n.slot AND l.commit_lsn < n.commit_lsn
WHERE n.term IS DISTINCT FROM l.term;
