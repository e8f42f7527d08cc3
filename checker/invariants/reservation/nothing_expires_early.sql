-- name: nothing_expires_early
-- sentence: A hold or an offer that nobody ends lives as long as it was given, and expires only after that.
-- needs: trail, holds.state, holds.expires_us
-- rests on: trail_complete, clocks_comparable
-- a pass rests on: states_known
-- catches: zone-clock

-- looked at
SELECT count(*) FROM steps
WHERE source IN ('holds', 'offers') AND present AND commit_lsn > 0 AND state = 'EXPIRED' AND before = 'ACTIVE' AND expires_us IS NOT NULL;

-- counter-examples
-- All by the database's one clock: a commit's time is never before that of the statement that found it overdue. What counts
-- is the deadline that the row was made with; whoever writes a new one, in whichever commit, proves nothing.
WITH given AS (
    SELECT source, id, arg_min(expires_us, (commit_lsn, position)) AS expires_us FROM steps
    WHERE source IN ('holds', 'offers') AND present AND state = 'ACTIVE' AND expires_us IS NOT NULL GROUP BY source, id
)
SELECT s.commit_lsn, s.resource, s.source AS kind, s.id, CASE WHEN s.source = 'holds' THEN s.id END AS hold,
    'it had ' || (g.expires_us - s.commit_us) || ' µs left' AS but
FROM steps s JOIN given g ON g.source = s.source AND g.id = s.id
WHERE s.present AND s.commit_lsn > 0 AND s.state = 'EXPIRED' AND s.before = 'ACTIVE' AND s.commit_us < g.expires_us;
