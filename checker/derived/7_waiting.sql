-- How long each entry of a waitlist waited: from the commit in which it joined to the one after which it no longer waits.
CREATE TABLE waits AS
WITH images AS (
    SELECT row_key, id, resource, seq, commit_lsn, CASE WHEN present THEN state ELSE 'GONE' END AS state
    FROM commits.waitlist_entries
),
turns AS (
    SELECT row_key, min(commit_lsn) FILTER (state = 'WAITING') AS joined_lsn, min(commit_lsn) FILTER (state <> 'WAITING') AS left_lsn,
        arg_min(state, commit_lsn) FILTER (state <> 'WAITING') AS became, any_value(id) AS id,
        any_value(resource) AS resource, any_value(seq) AS seq
    FROM images GROUP BY row_key
)
SELECT id, resource, seq, joined_lsn, coalesce(left_lsn, 18446744073709551615) AS left_lsn, became
FROM turns WHERE joined_lsn < coalesce(left_lsn, 18446744073709551615);

-- How many wait for a resource after each commit in which somebody began or ceased to.
CREATE TABLE waiting AS
WITH moved AS (
    SELECT resource, joined_lsn AS commit_lsn, 1 AS step FROM waits
    UNION ALL SELECT resource, left_lsn, -1 FROM waits WHERE left_lsn < 18446744073709551615
),
summed AS (SELECT resource, commit_lsn, sum(step) AS step FROM moved GROUP BY resource, commit_lsn)
SELECT resource, commit_lsn, CAST(sum(step) OVER (PARTITION BY resource ORDER BY commit_lsn) AS BIGINT) AS waiting FROM summed;
