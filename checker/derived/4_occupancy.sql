-- What each claiming row claims after each transaction that touched it. Live are ACTIVE holds and offers and
-- CONFIRMED reservations; where a target has no reservations of their own, a CONFIRMED hold is one.
CREATE TABLE claim_images AS
SELECT 'holds' AS source, row_key, commit_lsn, resource, CASE
    WHEN present AND (state = 'ACTIVE' OR state = 'CONFIRMED' AND NOT (SELECT reservations FROM offered))
    THEN coalesce(quantity, 1) ELSE 0 END AS claimed
FROM commits.holds
UNION ALL
SELECT 'offers', row_key, commit_lsn, resource,
    CASE WHEN present AND state = 'ACTIVE' THEN coalesce(quantity, 1) ELSE 0 END
FROM commits.offers
UNION ALL
SELECT 'reservations', row_key, commit_lsn, resource,
    CASE WHEN present AND state = 'CONFIRMED' THEN coalesce(quantity, 1) ELSE 0 END
FROM commits.reservations;

-- Live claims per resource after every commit that moved one: running sums over what each row gave and took.
CREATE TABLE claims AS
WITH steps AS (
    SELECT commit_lsn, resource, claimed, lag(resource) OVER rows_of AS before, lag(claimed, 1, 0) OVER rows_of AS claimed_before
    FROM claim_images WINDOW rows_of AS (PARTITION BY source, row_key ORDER BY commit_lsn)
),
moves AS (
    SELECT commit_lsn, resource, claimed AS taken, 0 AS given FROM steps WHERE claimed > 0
    UNION ALL
    SELECT commit_lsn, before, 0, claimed_before FROM steps WHERE claimed_before > 0
),
summed AS (
    SELECT resource, commit_lsn, CAST(sum(taken) AS BIGINT) AS taken, CAST(sum(given) AS BIGINT) AS given
    FROM moves GROUP BY resource, commit_lsn
)
SELECT resource, commit_lsn, taken, given,
    CAST(sum(taken - given) OVER (PARTITION BY resource ORDER BY commit_lsn) AS BIGINT) AS claimed
FROM summed;

-- The same beside what the resource's own row says, after every commit that touched either.
CREATE TABLE occupancy AS
WITH touched AS (
    SELECT resource, commit_lsn, taken, given, false AS counted, NULL AS capacity, NULL AS occupied, NULL AS state FROM claims
    UNION ALL BY NAME
    SELECT id AS resource, commit_lsn, true AS counted, capacity, occupied, state FROM commits.resources WHERE present
),
merged AS (
    SELECT resource, commit_lsn, coalesce(sum(taken - given), 0) AS moved, bool_or(counted) AS counted,
        max(capacity) AS capacity, max(occupied) AS occupied, max(state) AS state
    FROM touched GROUP BY resource, commit_lsn
)
SELECT resource, commit_lsn, CAST(moved AS BIGINT) AS moved,
    CAST(sum(moved) OVER so_far AS BIGINT) AS claimed,
    last_value(capacity IGNORE NULLS) OVER so_far AS capacity,
    last_value(occupied IGNORE NULLS) OVER so_far AS occupied,
    last_value(state IGNORE NULLS) OVER so_far AS state
FROM merged
WINDOW so_far AS (PARTITION BY resource ORDER BY commit_lsn);

-- Live claims per resource at rest.
CREATE VIEW claims_at_rest AS
SELECT resource, CAST(sum(quantity) AS BIGINT) AS claimed FROM (
    SELECT resource, coalesce(quantity, 1) AS quantity FROM state.holds
    WHERE state = 'ACTIVE' OR state = 'CONFIRMED' AND NOT (SELECT reservations FROM offered)
    UNION ALL SELECT resource, coalesce(quantity, 1) FROM state.offers WHERE state = 'ACTIVE'
    UNION ALL SELECT resource, coalesce(quantity, 1) FROM state.reservations WHERE state = 'CONFIRMED'
) GROUP BY resource;
