-- name: nothing_unattempted_exists
-- sentence: Every hold and every place in the line that came to be was asked for by an operation, for this resource and in this quantity.
-- needs: operations, trail, holds
-- rests on: history_complete
-- a pass rests on: trail_complete
-- catches: timeout-orphan

-- looked at
-- Needs the trail for its base: without it, what stood there before the run cannot be told from what came to be in it.
SELECT count(*) FROM made WHERE made IN ('holds', 'waitlist_entries') AND in_run;

-- counter-examples
-- A service may let whoever finds no seat stand in line: then it was a hold that was asked for, and may have been refused.
-- What bears an empty key was made without one.
WITH asked AS (
    SELECT 'holds' AS made, tenant, key, subject, coalesce(quantity, 1) AS quantity FROM operations WHERE kind = 'hold'
    UNION ALL
    SELECT 'waitlist_entries', tenant, key, subject, NULL FROM operations
    WHERE kind IN ('join_waitlist', 'hold') AND key IN (SELECT image.key FROM made WHERE made = 'waitlist_entries')
),
keyed AS (
    SELECT m.made, m.id, m.commit_lsn, m.image.resource AS resource, m.image.quantity AS quantity, m.image.key AS key,
        count(a.key) AS attempts,
        count(*) FILTER (a.subject = m.image.resource AND coalesce(a.quantity = coalesce(m.image.quantity, 1), true)) AS fitting
    FROM made m LEFT JOIN asked a ON a.made = m.made AND a.key = m.image.key AND coalesce(a.tenant = m.image.tenant, true)
    WHERE m.made IN ('holds', 'waitlist_entries') AND m.in_run AND m.image.key <> ''
    GROUP BY ALL
),
keyless AS (
    SELECT made, image.resource AS resource, CASE made WHEN 'holds' THEN coalesce(image.quantity, 1) END AS quantity, count(*) AS many,
        max(id) AS id, max(commit_lsn) AS commit_lsn
    FROM made WHERE made IN ('holds', 'waitlist_entries') AND in_run AND coalesce(image.key, '') = '' GROUP BY ALL
),
possible AS (
    SELECT 'holds' AS made, subject AS resource, coalesce(quantity, 1) AS quantity, count(*) AS attempts
    FROM operations WHERE kind = 'hold' AND outcome <> 'fail' GROUP BY ALL
    UNION ALL
    SELECT 'waitlist_entries', subject, NULL, count(*)
    FROM operations
    WHERE (kind = 'join_waitlist' AND outcome <> 'fail' OR kind = 'hold') AND (SELECT waitlist_entries FROM offered) GROUP BY ALL
)
SELECT commit_lsn, CASE made WHEN 'holds' THEN id END AS hold, CASE made WHEN 'waitlist_entries' THEN id END AS entry,
    resource, quantity, key,
    CASE WHEN attempts = 0 THEN 'no operation bears its key' ELSE 'its key was used for something else' END AS but
FROM keyed WHERE fitting = 0
UNION ALL
SELECT k.commit_lsn, CASE k.made WHEN 'holds' THEN k.id END, CASE k.made WHEN 'waitlist_entries' THEN k.id END, k.resource, k.quantity, NULL,
    k.many || CASE k.made WHEN 'holds' THEN ' such holds' ELSE ' such places in the line' END
        || ', but only ' || coalesce(p.attempts, 0) || ' operations that can have made one'
FROM keyless k LEFT JOIN possible p ON p.made = k.made AND p.resource = k.resource AND p.quantity IS NOT DISTINCT FROM k.quantity
WHERE k.many > coalesce(p.attempts, 0);
