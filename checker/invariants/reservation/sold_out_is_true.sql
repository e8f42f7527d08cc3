-- name: sold_out_is_true
-- sentence: Nobody is told "sold out" of a resource that was certainly free throughout the call.
-- needs: operations, trail, snapshots, clocks, resources.capacity, holds.resource, holds.state
-- rests on: trail_complete, clocks_comparable, history_complete, states_known
-- catches: redis-authority, over-decrement, stale-refusal, never-released, partial-acquire, wrong-units

-- looked at
-- Only what could have been convicted: there had certainly been room for it before it was answered, and of no seat
-- that was given back is it unknown since when that was visible.
SELECT count(*) FROM operations o
JOIN refusals r ON r.meaning = 'sold_out' AND r.code = o.code
ASOF JOIN (SELECT resource, at_ns, max(room) OVER (PARTITION BY resource ORDER BY at_ns) AS most FROM certain_room) c
    ON c.resource = o.subject AND c.at_ns <= o.done_ns
WHERE o.kind = 'hold' AND o.outcome = 'fail' AND c.most >= coalesce(o.quantity, 1)
    AND o.subject NOT IN (SELECT resource FROM room_steps WHERE at_ns IS NULL);

-- counter-examples
WITH refused AS (
    -- A replayed refusal was decided some time since its key was first sent.
    SELECT o.op, o.key, o.subject AS resource, coalesce(o.quantity, 1) AS quantity, o.done_ns, o.first_sent_ns AS since_ns
    FROM attempts o
    JOIN refusals r ON r.meaning = 'sold_out' AND r.code = o.code
    WHERE o.kind = 'hold' AND o.outcome = 'fail'
),
-- For each quantity that was refused: when there came to be, and ceased to be, certainly room for it.
turns AS (
    SELECT resource, quantity, at_ns, free, lead(at_ns) OVER (PARTITION BY resource, quantity ORDER BY at_ns) AS until_ns
    FROM (
        SELECT c.resource, q.quantity, c.at_ns, c.room >= q.quantity AS free,
            lag(c.room >= q.quantity, 1, false) OVER (PARTITION BY c.resource, q.quantity ORDER BY c.at_ns) AS free_before
        FROM certain_room c CROSS JOIN (SELECT DISTINCT quantity FROM refused) q
    ) WHERE free <> free_before
)
SELECT r.op, r.resource, r.quantity, r.key, t.at_ns AS free_since_ns, t.until_ns AS free_until_ns
FROM refused r ASOF JOIN turns t ON t.resource = r.resource AND t.quantity = r.quantity AND t.at_ns <= r.since_ns
WHERE t.free AND coalesce(t.until_ns > r.done_ns, true);
