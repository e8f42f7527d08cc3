-- name: sold_out_is_true
-- sentence: Nobody is told "sold out" of a resource that was certainly free throughout the call.
-- needs: operations, trail, snapshots, clocks, resources.capacity, holds.resource, holds.state
-- rests on: trail_complete, clocks_comparable, history_complete
-- catches: redis-authority, over-decrement, stale-refusal, never-released, skip-locked-head

-- looked at
SELECT count(*) FROM operations o JOIN refusals r ON r.meaning = 'sold_out' AND r.code = o.code
WHERE o.kind = 'hold' AND o.outcome = 'fail' AND o.subject IN (SELECT resource FROM occupancy);

-- counter-examples
-- The room that was certainly there: what takes room counts from its commit time, a lower bound, and what gives room
-- counts once it was certainly visible. Needs no order but that of time, so it judges any service alike.
WITH room AS (
    SELECT resource, commit_lsn, CASE WHEN coalesce(state, 'OPEN') = 'OPEN' THEN capacity ELSE 0 END - claimed AS room
    FROM occupancy WHERE capacity IS NOT NULL
),
steps AS (
    SELECT resource, commit_lsn, room - lag(room, 1, 0) OVER (PARTITION BY resource ORDER BY commit_lsn) AS step FROM room
),
timed AS (
    SELECT s.resource, s.step, CASE
        WHEN s.commit_lsn = 0 THEN -1
        WHEN s.step > 0 THEN v.visible_ns
        ELSE v.commit_ns - (SELECT ns FROM clock_error)
    END AS at_ns
    FROM steps s LEFT JOIN visible v ON v.commit_lsn = s.commit_lsn WHERE s.step <> 0
),
instants AS (
    SELECT resource, at_ns, sum(step) AS step FROM timed WHERE at_ns IS NOT NULL GROUP BY resource, at_ns
),
certain AS (
    SELECT resource, at_ns, sum(step) OVER (PARTITION BY resource ORDER BY at_ns) AS room FROM instants
),
refused AS (
    -- A replayed refusal was decided some time since its key was first sent.
    SELECT o.op, o.key, o.subject AS resource, coalesce(o.quantity, 1) AS quantity, o.done_ns,
        least(o.sent_ns, coalesce(f.sent_ns, o.sent_ns)) AS since_ns
    FROM operations o
    JOIN refusals r ON r.meaning = 'sold_out' AND r.code = o.code
    LEFT JOIN (
        SELECT tenant, kind, key, min(sent_ns) AS sent_ns FROM operations WHERE key IS NOT NULL GROUP BY ALL
    ) f ON f.tenant IS NOT DISTINCT FROM o.tenant AND f.kind = o.kind AND f.key = o.key
    WHERE o.kind = 'hold' AND o.outcome = 'fail'
),
-- For each quantity that was refused: when there came to be, and ceased to be, certainly room for it.
turns AS (
    SELECT resource, quantity, at_ns, free, lead(at_ns) OVER (PARTITION BY resource, quantity ORDER BY at_ns) AS until_ns
    FROM (
        SELECT c.resource, q.quantity, c.at_ns, c.room >= q.quantity AS free,
            lag(c.room >= q.quantity, 1, false) OVER (PARTITION BY c.resource, q.quantity ORDER BY c.at_ns) AS free_before
        FROM certain c CROSS JOIN (SELECT DISTINCT quantity FROM refused) q
    ) WHERE free <> free_before
)
SELECT r.op, r.resource, r.quantity, r.key, t.at_ns AS free_since_ns, t.until_ns AS free_until_ns
FROM refused r ASOF JOIN turns t ON t.resource = r.resource AND t.quantity = r.quantity AND t.at_ns <= r.since_ns
WHERE t.free AND coalesce(t.until_ns > r.done_ns, true);
