-- name: attempts_are_bounded
-- sentence: Every attempt to deliver is counted when it is claimed, and there are at most as many as the target allows.
-- needs: trail, outbox.state, outbox.attempts, outbox.attempts_max
-- rests on: trail_complete
-- a pass rests on: states_known
-- catches: poison-head, no-claim, retry-storm

-- looked at
SELECT count(*) FROM commits.outbox WHERE present AND commit_lsn > 0 AND state = 'CLAIMED';

-- counter-examples
WITH claims_of AS (
    SELECT *, lag(attempts) OVER row_of AS attempts_before, lag(state) OVER row_of AS before, lag(claim) OVER row_of AS claim_before
    FROM commits.outbox WHERE present WINDOW row_of AS (PARTITION BY row_key ORDER BY commit_lsn)
),
-- What the provider was sent, where it kept a ledger.
sent AS (SELECT effect, count(*) AS sent FROM effects WHERE provider = 'notification' GROUP BY effect),
counted AS (SELECT delivery, max(attempts) AS attempts FROM commits.outbox WHERE present GROUP BY delivery)
SELECT commit_lsn, delivery, attempts, CASE
        WHEN attempts > attempts_max THEN 'there are to be at most ' || attempts_max
        WHEN attempts < attempts_before THEN 'there had been ' || attempts_before
        ELSE 'it was claimed after ' || attempts_before || ' and that was not counted as one more' END AS but
FROM claims_of
WHERE commit_lsn > 0 AND (attempts > attempts_max OR attempts < attempts_before
    OR state = 'CLAIMED' AND (before <> 'CLAIMED' OR claim <> claim_before) AND attempts <> attempts_before + 1)
UNION ALL
SELECT NULL, c.delivery, c.attempts, 'the provider was sent it ' || s.sent || ' times' FROM counted c JOIN sent s ON s.effect = c.delivery
WHERE s.sent > c.attempts;
