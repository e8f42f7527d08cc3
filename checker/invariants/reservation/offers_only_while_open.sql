-- name: offers_only_while_open
-- sentence: A resource that is closed gives out nothing any more: no offer, no hold and no place in the line.
-- needs: trail, resources.state, holds.resource
-- rests on: trail_complete
-- catches: phantom-supply

-- looked at
SELECT count(*) FROM steps WHERE source = 'resources' AND present AND commit_lsn > 0 AND state <> 'OPEN' AND before = 'OPEN';

-- counter-examples
WITH closed AS (
    SELECT id AS resource, min(commit_lsn) AS closed_lsn FROM commits.resources WHERE present AND state <> 'OPEN' GROUP BY id
),
given AS (
    SELECT source AS kind, id, resource, commit_lsn FROM steps
    WHERE source IN ('offers', 'holds', 'waitlist_entries') AND present AND commit_lsn > 0 AND before IS NULL AND before_lsn IS NULL
)
SELECT g.commit_lsn, g.resource, g.kind, g.id, CASE WHEN g.kind = 'holds' THEN g.id END AS hold, c.closed_lsn
FROM given g JOIN closed c ON c.resource = g.resource JOIN transactions t ON t.commit_lsn = g.commit_lsn
-- What had begun when the resource was closed may not have seen it.
WHERE c.closed_lsn < t.first_lsn OR c.closed_lsn = g.commit_lsn;
