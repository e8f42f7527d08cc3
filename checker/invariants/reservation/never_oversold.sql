-- name: never_oversold
-- sentence: At every commit the live claims on a resource, counted from their rows, are at most its capacity.
-- needs: trail, resources.capacity, holds.resource, holds.state
-- rests on: trail_complete
-- a pass rests on: states_known
-- catches: oversell-read-write, rowcount-ignored, second-path-no-recheck, lock-expires, failover-rollback,
--   oversell-subquery-guard, phantom-supply

-- looked at
SELECT count(*) FROM occupancy WHERE commit_lsn > 0 AND capacity IS NOT NULL AND moved <> 0;

-- counter-examples
SELECT commit_lsn, resource, claimed, capacity
FROM occupancy
WHERE commit_lsn > 0 AND claimed > capacity;
