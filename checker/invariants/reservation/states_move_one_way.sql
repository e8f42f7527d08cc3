-- name: states_move_one_way
-- sentence: Resources, holds, reservations, waitlist entries, offers and deliveries move only from one state to a next that is theirs.
-- needs: trail, holds.state
-- rests on: trail_complete
-- catches: stale-offer-usable, sweep-hits-confirmed

-- looked at
SELECT count(*) FROM steps WHERE present AND commit_lsn > 0 AND state <> before;

-- counter-examples
SELECT s.commit_lsn, s.resource, s.source AS kind, s.id, CASE WHEN s.source = 'holds' THEN s.id END AS hold, s.before, s.state AS after
FROM steps s LEFT JOIN moves m ON m.source = s.source AND m.before = s.before AND m.after = s.state
WHERE s.present AND s.commit_lsn > 0 AND s.state <> s.before AND m.source IS NULL;
