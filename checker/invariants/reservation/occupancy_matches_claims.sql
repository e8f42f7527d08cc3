-- name: occupancy_matches_claims
-- sentence: At every commit and at rest, what a resource counts as occupied is the sum of its live claims.
-- needs: trail, resources.occupied, holds.resource, holds.state
-- rests on: trail_complete, states_known
-- catches: counter-row-drift, never-released, release-race, wrong-units, partial-acquire, phantom-supply, rowcount-ignored,
--   second-path-no-recheck, sweep-hits-confirmed

-- looked at
SELECT count(*) FROM occupancy WHERE commit_lsn > 0 AND occupied IS NOT NULL;

-- counter-examples
SELECT commit_lsn, resource, occupied, claimed
FROM occupancy
WHERE commit_lsn > 0 AND occupied <> claimed
UNION ALL
SELECT NULL, r.id, r.occupied, coalesce(c.claimed, 0)
FROM state.resources r LEFT JOIN claims_at_rest c ON c.resource = r.id
WHERE r.occupied <> coalesce(c.claimed, 0);
