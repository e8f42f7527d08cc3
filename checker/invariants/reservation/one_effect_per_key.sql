-- name: one_effect_per_key
-- sentence: However often an idempotency key is sent, it makes at most one hold, or one place in the line.
-- needs: operations, holds
-- rests on: nothing
-- a pass rests on: trail_complete, history_complete
-- catches: check-then-insert, claim-dropped-after-effect, live-owner-judged-dead, on-conflict-none, timeout-orphan

-- looked at
SELECT count(*) FROM (
    SELECT made, image.key FROM made WHERE made IN ('holds', 'waitlist_entries') AND in_run AND image.key <> ''
    UNION
    SELECT m.made, o.key
    FROM operations o JOIN made m ON m.made = CASE o.kind WHEN 'hold' THEN 'holds' WHEN 'join_waitlist' THEN 'waitlist_entries' END
        AND m.id = o.created
    WHERE o.outcome = 'ok' AND o.key IS NOT NULL AND (m.in_run AND m.image.key = o.key) IS NOT TRUE
);

-- counter-examples
-- What bears an empty key was made without one.
WITH effects AS (
    SELECT made, image.tenant AS tenant, image.key AS key, id, commit_lsn FROM made
    WHERE made IN ('holds', 'waitlist_entries') AND in_run AND image.key <> ''
    UNION ALL
    -- Where a target does not keep the key with what was made, its own answers tell which key made what.
    SELECT m.made, coalesce(m.image.tenant, o.tenant), o.key, m.id, m.commit_lsn
    FROM operations o JOIN made m ON m.made = CASE o.kind WHEN 'hold' THEN 'holds' WHEN 'join_waitlist' THEN 'waitlist_entries' END
        AND m.id = o.created AND m.in_run
    WHERE o.outcome = 'ok' AND o.key IS NOT NULL AND (m.image.key = o.key AND m.image.tenant = o.tenant) IS NOT TRUE
),
several AS (SELECT made, tenant, key FROM effects GROUP BY ALL HAVING min(id) <> max(id))
SELECT max(commit_lsn) AS commit_lsn, e.tenant, e.key, count(DISTINCT id) AS effects,
    string_agg(DISTINCT id, ', ' ORDER BY id) FILTER (e.made = 'holds') AS holds,
    string_agg(DISTINCT id, ', ' ORDER BY id) FILTER (e.made = 'waitlist_entries') AS entries
FROM effects e SEMI JOIN several s ON s.made = e.made AND s.key = e.key AND s.tenant IS NOT DISTINCT FROM e.tenant
GROUP BY e.made, e.tenant, e.key;
