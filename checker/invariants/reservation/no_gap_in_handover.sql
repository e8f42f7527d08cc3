-- name: no_gap_in_handover
-- sentence: After a commit in which seats came free nobody is left waiting for them: they change hands in the commit itself.
-- needs: trail, resources.capacity, holds.resource, holds.state, waitlist_entries.resource, waitlist_entries.state
-- rests on: trail_complete, states_known
-- catches: newcomer-steals, stops-at-bad-head

-- looked at
SELECT count(*) FROM claims WHERE commit_lsn > 0 AND given > 0 AND resource IN (SELECT resource FROM waits);

-- counter-examples
-- Seats come free where the count falls, or where the capacity rises past it.
WITH gave AS (
    SELECT *, capacity - lag(capacity) OVER (PARTITION BY resource ORDER BY commit_lsn) AS raised FROM occupancy
)
SELECT g.commit_lsn, g.resource, g.moved, g.claimed, g.capacity, w.waiting
FROM gave g ASOF JOIN waiting w ON w.resource = g.resource AND w.commit_lsn <= g.commit_lsn
WHERE g.commit_lsn > 0 AND (g.moved < 0 OR g.raised > 0) AND w.waiting > 0
    AND coalesce(g.claimed < g.capacity, true) AND coalesce(g.state, 'OPEN') = 'OPEN';
