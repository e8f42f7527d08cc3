-- name: nothing_unattempted_exists
-- sentence: Every hold that came to be was asked for by an operation, for this resource and in this quantity.
-- needs: operations, trail, holds
-- rests on: history_complete
-- a pass rests on: trail_complete
-- catches: timeout-orphan

-- looked at
-- Needs the trail for its base: without it, what stood there before the run cannot be told from what came to be in it.
SELECT count(*) FROM made WHERE made = 'holds' AND in_run;

-- counter-examples
WITH asked AS (SELECT tenant, key, subject, coalesce(quantity, 1) AS quantity FROM operations WHERE kind = 'hold'),
keyed AS (
    SELECT m.id, m.commit_lsn, m.image.resource AS resource, m.image.quantity AS quantity, m.image.key AS key,
        count(a.key) AS attempts,
        count(*) FILTER (a.subject = m.image.resource AND a.quantity = coalesce(m.image.quantity, 1)) AS fitting
    FROM made m LEFT JOIN asked a ON a.key = m.image.key AND coalesce(a.tenant = m.image.tenant, true)
    WHERE m.made = 'holds' AND m.in_run AND m.image.key IS NOT NULL
    GROUP BY ALL
),
keyless AS (
    SELECT image.resource AS resource, coalesce(image.quantity, 1) AS quantity, count(*) AS holds,
        max(id) AS id, max(commit_lsn) AS commit_lsn
    FROM made WHERE made = 'holds' AND in_run AND image.key IS NULL GROUP BY ALL
),
possible AS (
    SELECT subject AS resource, coalesce(quantity, 1) AS quantity, count(*) AS attempts
    FROM operations WHERE kind = 'hold' AND outcome <> 'fail' GROUP BY ALL
)
SELECT commit_lsn, id AS hold, resource, quantity, key,
    CASE WHEN attempts = 0 THEN 'no operation bears its key' ELSE 'its key was used for something else' END AS but
FROM keyed WHERE fitting = 0
UNION ALL
SELECT k.commit_lsn, k.id, k.resource, k.quantity, NULL,
    k.holds || ' such holds, but only ' || coalesce(p.attempts, 0) || ' operations that can have made one'
FROM keyless k LEFT JOIN possible p ON p.resource = k.resource AND p.quantity = k.quantity
WHERE k.holds > coalesce(p.attempts, 0);
