-- name: one_effect_per_key
-- sentence: However often an idempotency key is sent, it makes at most one hold.
-- needs: operations, holds
-- rests on: nothing
-- a pass rests on: trail_complete, history_complete
-- catches: check-then-insert, claim-dropped-after-effect, live-owner-judged-dead, on-conflict-none, timeout-orphan

-- looked at
SELECT count(*) FROM (
    SELECT image.key FROM made WHERE made = 'holds' AND in_run AND image.key IS NOT NULL
    UNION
    SELECT o.key FROM operations o JOIN made m ON m.made = 'holds' AND m.id = o.created
    WHERE o.kind = 'hold' AND o.outcome = 'ok' AND o.key IS NOT NULL AND (m.in_run AND m.image.key = o.key) IS NOT TRUE
);

-- counter-examples
WITH effects AS (
    SELECT image.tenant AS tenant, image.key AS key, id, commit_lsn FROM made
    WHERE made = 'holds' AND in_run AND image.key IS NOT NULL
    UNION ALL
    -- Where a target does not keep the key with the hold, its own answers tell which key made what.
    SELECT coalesce(m.image.tenant, o.tenant), o.key, m.id, m.commit_lsn
    FROM operations o JOIN made m ON m.made = 'holds' AND m.id = o.created AND m.in_run
    WHERE o.kind = 'hold' AND o.outcome = 'ok' AND o.key IS NOT NULL
        AND (m.image.key = o.key AND m.image.tenant = o.tenant) IS NOT TRUE
),
several AS (SELECT tenant, key FROM effects GROUP BY tenant, key HAVING min(id) <> max(id))
SELECT max(commit_lsn) AS commit_lsn, e.tenant, e.key, count(DISTINCT id) AS effects,
    string_agg(DISTINCT id, ', ' ORDER BY id) AS holds
FROM effects e SEMI JOIN several s ON s.key = e.key AND s.tenant IS NOT DISTINCT FROM e.tenant
GROUP BY e.tenant, e.key;
