-- name: retries_are_bounded
-- sentence: A delivery is tried again only when its rest is over or the claim on it has lapsed.
-- needs: trail, outbox.state, outbox.next_us, outbox.claimed_until_us
-- rests on: trail_complete, clocks_comparable
-- a pass rests on: states_known
-- catches: retry-storm, early-redelivery, poison-head

-- looked at
SELECT count(*) FROM commits.outbox WHERE present AND commit_lsn > 0 AND state = 'CLAIMED';

-- counter-examples
-- All by the database's one clock, and a commit's time is never before the statement that compared it.
WITH turns AS (
    SELECT *, lag(state) OVER row_of AS before, lag(claim) OVER row_of AS claim_before, lag(next_us) OVER row_of AS next_before_us,
        lag(claimed_until_us) OVER row_of AS claimed_until_before_us
    FROM commits.outbox WHERE present WINDOW row_of AS (PARTITION BY row_key ORDER BY commit_lsn)
)
SELECT commit_lsn, delivery, attempts, 'it was to rest ' || (next_before_us - commit_us) || ' µs longer' AS but
FROM turns WHERE commit_lsn > 0 AND state = 'CLAIMED' AND before = 'PENDING' AND commit_us < next_before_us
UNION ALL
SELECT commit_lsn, delivery, attempts, 'the claim on it ran ' || (claimed_until_before_us - commit_us) || ' µs longer'
FROM turns WHERE commit_lsn > 0 AND state = 'CLAIMED' AND before = 'CLAIMED' AND claim <> claim_before AND commit_us < claimed_until_before_us
UNION ALL
-- One rest may be over by its commit, where the machine stood still just then; not one after the other.
SELECT max(commit_lsn), delivery, max(attempts), 'it was put back ' || count(*) || ' times without a rest'
FROM turns WHERE commit_lsn > 0 AND state = 'PENDING' AND before = 'CLAIMED' AND next_us <= commit_us GROUP BY delivery HAVING count(*) > 1;
