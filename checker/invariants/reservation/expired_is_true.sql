-- name: expired_is_true
-- sentence: Nobody is told that the time of a hold or an offer is over while it lives and has time left.
-- needs: operations, trail, clocks, holds.state, holds.expires_us
-- rests on: trail_complete, clocks_comparable
-- a pass rests on: states_known, history_complete
-- catches: zone-clock

-- looked at
-- Whoever asked to end something and was answered before its time was over: each of them might have been told so.
SELECT count(*) FROM operations o
JOIN ends e ON e.kind = o.kind
JOIN steps s ON s.source = e.source AND s.id = o.subject AND s.before IS NULL AND s.present AND s.state = 'ACTIVE'
WHERE o.outcome IN ('ok', 'fail') AND EXISTS (FROM refusals WHERE meaning = 'expired')
    AND o.done_ns + (SELECT max(ahead_ns) FROM database_clock) < s.expires_us * 1000;

-- counter-examples
-- A refusal that is replayed was decided before it was told, when there was more time left, not less. What counts is the
-- deadline that the row was made with. Where it had ended by then, by whoever's doing, or where its resource had closed, the
-- word for that is the target's own business.
WITH refused AS (
    SELECT o.op, o.kind, o.key, e.source, o.subject AS id, o.done_ns
    FROM operations o
    JOIN refusals r ON r.meaning = 'expired' AND r.code = o.code
    JOIN ends e ON e.kind = o.kind
    WHERE o.outcome = 'fail' AND o.done_ns IS NOT NULL
),
-- By the database's clock, and not a moment too early.
told AS (
    SELECT r.*, r.done_ns + coalesce(c.ahead_ns, (SELECT arg_min(ahead_ns, real_ns) FROM database_clock)) + e.ns AS real_ns
    FROM refused r CROSS JOIN clock_error e
    ASOF LEFT JOIN (SELECT real_ns - ahead_ns AS mono_ns, ahead_ns FROM database_clock) c ON c.mono_ns <= r.done_ns
),
-- A row that is gone is known by its key alone.
named AS (
    SELECT DISTINCT s.source, s.row_key, s.id FROM steps s SEMI JOIN refused r ON r.source = s.source AND r.id = s.id WHERE s.present
),
lives AS (
    SELECT n.source, n.id, any_value(s.resource) AS resource,
        arg_min(s.expires_us, (s.commit_lsn, s.position)) FILTER (s.state = 'ACTIVE' AND s.expires_us IS NOT NULL) AS expires_us,
        min(s.commit_lsn) FILTER (NOT s.present OR s.state IS DISTINCT FROM 'ACTIVE') AS ended_lsn
    FROM steps s JOIN named n ON n.source = s.source AND n.row_key = s.row_key GROUP BY n.source, n.id
),
closed AS (
    SELECT s.id AS resource, min(s.commit_lsn) AS closed_lsn FROM steps s
    WHERE s.source = 'resources' AND s.present AND s.state <> 'OPEN' AND s.id IN (SELECT resource FROM lives) GROUP BY s.id
)
SELECT t.op, l.resource, t.kind, t.key, t.id, CASE WHEN t.source = 'holds' THEN t.id END AS hold,
    'it had at least ' || (l.expires_us - t.real_ns // 1000) || ' µs left' AS but
FROM told t
JOIN lives l ON l.source = t.source AND l.id = t.id
LEFT JOIN closed c ON c.resource = l.resource
LEFT JOIN transactions x ON x.commit_lsn = least(l.ended_lsn, c.closed_lsn)
WHERE t.real_ns < l.expires_us * 1000
    -- Its end cannot have been seen before it was committed.
    AND (coalesce(l.ended_lsn, c.closed_lsn) IS NULL OR x.commit_ns - (SELECT ns FROM clock_error) > t.done_ns);
