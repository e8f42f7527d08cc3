-- The room that was certainly there: what takes room counts from its commit time, a lower bound, and what gives room
-- counts once it was certainly visible (null: nobody knows when). Needs no order but that of time, so it judges any
-- service alike.
CREATE TABLE room_steps AS
WITH room AS (
    SELECT resource, commit_lsn, CASE WHEN coalesce(state, 'OPEN') = 'OPEN' THEN capacity ELSE 0 END - claimed AS room
    FROM occupancy WHERE capacity IS NOT NULL
),
steps AS (
    SELECT resource, commit_lsn, room - lag(room, 1, 0) OVER (PARTITION BY resource ORDER BY commit_lsn) AS step FROM room
)
SELECT s.resource, s.step, CASE
    WHEN s.commit_lsn = 0 THEN -1
    WHEN s.step > 0 THEN v.visible_ns
    ELSE v.commit_ns - (SELECT ns FROM clock_error)
END AS at_ns
FROM steps s LEFT JOIN visible v ON v.commit_lsn = s.commit_lsn WHERE s.step <> 0;

CREATE TABLE certain_room AS
WITH instants AS (
    SELECT resource, at_ns, sum(step) AS step FROM room_steps WHERE at_ns IS NOT NULL GROUP BY resource, at_ns
)
SELECT resource, at_ns, CAST(sum(step) OVER (PARTITION BY resource ORDER BY at_ns) AS BIGINT) AS room FROM instants;
