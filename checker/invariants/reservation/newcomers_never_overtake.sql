-- name: newcomers_never_overtake
-- sentence: Nobody takes a seat directly while somebody has been waiting for one.
-- needs: trail, holds.resource, waitlist_entries.resource, waitlist_entries.state
-- rests on: trail_complete, states_known
-- catches: newcomer-steals

-- looked at
SELECT count(*) FROM made WHERE made = 'holds' AND in_run AND image.resource IN (SELECT resource FROM waits);

-- counter-examples
-- Of those who had joined before the hold's transaction did anything: the one that waited longest.
WITH standing AS (
    SELECT resource, joined_lsn, max(left_lsn) OVER so_far AS left_lsn, arg_max(id, left_lsn) OVER so_far AS id
    FROM waits WINDOW so_far AS (PARTITION BY resource ORDER BY joined_lsn)
),
took AS (
    SELECT m.id, m.image.resource AS resource, m.image.key AS key, m.commit_lsn, t.first_lsn
    FROM made m JOIN transactions t ON t.commit_lsn = m.commit_lsn WHERE m.made = 'holds' AND m.in_run
)
SELECT t.commit_lsn, t.resource, t.id AS hold, t.key, s.id AS waiting
FROM took t ASOF JOIN standing s ON s.resource = t.resource AND s.joined_lsn < t.first_lsn
WHERE s.left_lsn > t.commit_lsn;
