-- name: limits_hold
-- sentence: Nobody ever gains more of a resource than one owner may have of it, places in the line included.
-- needs: operations, trail, resources.owner_limit, holds.owner, holds.state
-- rests on: trail_complete
-- a pass rests on: states_known, history_complete
-- catches: user-limit-race, fail-mode-wrong, spoofed-identity

-- looked at
SELECT count(*) FROM made
WHERE in_run AND image.resource IN (SELECT id FROM commits.resources WHERE present AND owner_limit IS NOT NULL);

-- counter-examples
-- A limit that is lowered takes nothing away from anybody: only who gains is judged. Somebody who is kept under several
-- owners is one person all the same: a row is theirs who were told of it, where nobody else was told of that owner's.
WITH persons AS (
    SELECT m.image.owner AS owner, min(concat_ws('/', o.tenant, o.owner)) AS person
    FROM made m JOIN operations o ON o.created = m.id AND o.outcome = 'ok' AND o.owner IS NOT NULL
        AND o.kind = CASE m.made WHEN 'holds' THEN 'hold' WHEN 'waitlist_entries' THEN 'join_waitlist' END
    WHERE m.image.owner IS NOT NULL
    GROUP BY m.image.owner HAVING min(concat_ws('/', o.tenant, o.owner)) = max(concat_ws('/', o.tenant, o.owner))
),
images AS (
    SELECT 'holds' AS source, row_key, commit_lsn, resource, owner, CASE
        WHEN present AND (state = 'ACTIVE' OR state = 'CONFIRMED' AND NOT (SELECT reservations FROM offered))
        THEN coalesce(quantity, 1) ELSE 0 END AS has
    FROM commits.holds
    UNION ALL SELECT 'reservations', row_key, commit_lsn, resource, owner,
        CASE WHEN present AND state = 'CONFIRMED' THEN coalesce(quantity, 1) ELSE 0 END FROM commits.reservations
    UNION ALL SELECT 'offers', row_key, commit_lsn, resource, owner,
        CASE WHEN present AND state = 'ACTIVE' THEN coalesce(quantity, 1) ELSE 0 END FROM commits.offers
    UNION ALL SELECT 'waitlist_entries', row_key, commit_lsn, resource, owner,
        CASE WHEN present AND state = 'WAITING' THEN 1 ELSE 0 END FROM commits.waitlist_entries
),
gains AS (
    SELECT commit_lsn, coalesce(resource, lag(resource) OVER row_of) AS resource, coalesce(owner, lag(owner) OVER row_of) AS owner,
        has - lag(has, 1, 0) OVER row_of AS gained
    FROM images WINDOW row_of AS (PARTITION BY source, row_key ORDER BY commit_lsn)
),
summed AS (
    SELECT resource, coalesce(p.person, g.owner) AS owner, commit_lsn, sum(gained) AS gained
    FROM gains g LEFT JOIN persons p ON p.owner = g.owner WHERE g.owner IS NOT NULL GROUP BY ALL
),
held AS (
    SELECT resource, owner, commit_lsn, gained, CAST(sum(gained) OVER (PARTITION BY resource, owner ORDER BY commit_lsn) AS BIGINT) AS has
    FROM summed
)
SELECT h.commit_lsn, h.resource, h.owner, h.has, r.owner_limit
FROM held h ASOF JOIN (SELECT id, commit_lsn, owner_limit FROM commits.resources WHERE present) r
    ON r.id = h.resource AND r.commit_lsn <= h.commit_lsn
WHERE h.commit_lsn > 0 AND h.gained > 0 AND h.has > r.owner_limit;
