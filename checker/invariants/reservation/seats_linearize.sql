-- name: seats_linearize
-- sentence: Commits happen while they are asked for and not yet answered, and in the order in which buyers saw them happen.
-- needs: operations, trail, clocks, holds
-- rests on: trail_complete, clocks_comparable, history_complete, states_known
-- catches: answer-before-commit

-- looked at
SELECT count(*) FROM decided;

-- counter-examples
-- The order of commits is the linearization, for any quantity, expiries included. That the count is right at each of its
-- steps is never_oversold and occupancy_matches_claims, that who was refused was right to be is sold_out_is_true; here is
-- what ties the order to what buyers saw: each commit lies between question and answer, and nothing answered before
-- another asked comes after it.
WITH error AS (SELECT ns FROM clock_error),
-- Who is told of a commit is told by its first answer; who never was may have been any time.
answered AS (
    SELECT resource, done_ns, max(commit_lsn) OVER (PARTITION BY resource ORDER BY done_ns) AS commit_lsn
    FROM decided WHERE done_ns IS NOT NULL
),
overtaken AS (
    SELECT d.*, a.commit_lsn AS later_lsn FROM decided d ASOF JOIN answered a ON a.resource = d.resource AND a.done_ns < d.sent_ns
    WHERE a.commit_lsn > d.commit_lsn
)
SELECT d.op, d.kind, d.key, d.resource, d.commit_lsn, CASE
        WHEN d.commit_ns + e.ns < d.sent_ns THEN 'it committed ' || (d.sent_ns - d.commit_ns) // 1000 || ' µs before it was asked for'
        ELSE 'it was answered ' || (d.commit_ns - d.done_ns) // 1000 || ' µs before it committed' END AS but
FROM decided d, error e WHERE d.commit_ns + e.ns < d.sent_ns OR d.done_ns + e.ns < d.commit_ns
UNION ALL
SELECT o.op, o.kind, o.key, o.resource, o.commit_lsn, 'it committed before operation ' || a.op || ', which was answered before it was sent'
FROM overtaken o JOIN (SELECT resource, commit_lsn, arg_min(op, done_ns) AS op FROM decided
    WHERE done_ns IS NOT NULL AND commit_lsn IN (SELECT later_lsn FROM overtaken) GROUP BY ALL) a
    ON a.resource = o.resource AND a.commit_lsn = o.later_lsn;
