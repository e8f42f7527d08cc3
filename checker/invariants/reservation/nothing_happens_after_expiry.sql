-- name: nothing_happens_after_expiry
-- sentence: Once its time is over a hold or an offer is neither confirmed, accepted, cancelled nor declined.
-- needs: operations, trail, clocks, holds.state, holds.expires_us
-- rests on: trail_complete, clocks_comparable, history_complete
-- a pass rests on: states_known
-- catches: expired-confirmed, stale-offer-usable

-- looked at
SELECT count(*) FROM ended WHERE source IN ('holds', 'offers') AND before = 'ACTIVE' AND expires_us IS NOT NULL;

-- counter-examples
-- An honest confirm commits a little late, and a stored time of confirmation may be the lie. What proves it: that it was
-- sent after the end, or that whoever wrote the row that it locked before it committed after the end; both by the
-- deadline that the row was made with.
WITH deadlines AS (
    SELECT source, id, min(expires_us) AS expires_us FROM steps
    WHERE source IN ('holds', 'offers') AND present AND expires_us IS NOT NULL GROUP BY source, id
),
instants AS (
    SELECT d.*, d.expires_us * 1000 - coalesce(c.ahead_ns, (SELECT arg_min(ahead_ns, real_ns) FROM database_clock))
        + (SELECT ns FROM clock_error) AS surely_over_ns
    FROM deadlines d ASOF LEFT JOIN database_clock c ON d.expires_us * 1000 >= c.real_ns
),
acted AS (
    SELECT a.kind, e.source, a.subject AS id, min(a.first_sent_ns) FILTER (a.outcome <> 'fail') AS any_sent_ns,
        max(a.first_sent_ns) FILTER (a.outcome = 'ok') AS told_sent_ns,
        arg_max(a.op, a.first_sent_ns) FILTER (a.outcome = 'ok') AS told_op, min(a.op) FILTER (a.outcome <> 'fail') AS any_op
    FROM attempts a JOIN ends e ON e.kind = a.kind WHERE e.source IN ('holds', 'offers') GROUP BY ALL
),
late AS (
    SELECT s.kind, s.source, s.id, s.resource, s.commit_lsn, s.state, d.expires_us, s.before_us AS writer_us, 'its row' AS of
    FROM ended s JOIN deadlines d ON d.source = s.source AND d.id = s.id WHERE s.before = 'ACTIVE' AND s.before_lsn < s.commit_lsn
    UNION ALL
    SELECT s.kind, s.source, s.id, s.resource, s.commit_lsn, s.state, d.expires_us, r.commit_us, 'its resource'
    FROM ended s JOIN deadlines d ON d.source = s.source AND d.id = s.id
    ASOF JOIN (SELECT id, commit_lsn, commit_us, locked_first FROM commits.resources WHERE present) r
        ON r.id = s.resource AND r.commit_lsn < s.commit_lsn
    WHERE s.before = 'ACTIVE' AND r.locked_first
)
SELECT commit_lsn, resource, NULL AS op, kind, id, CASE WHEN source = 'holds' THEN id END AS hold,
    'the last to write ' || of || ' before it committed ' || (writer_us - expires_us) || ' µs after the end' AS because
FROM late WHERE writer_us > expires_us
UNION ALL
SELECT NULL, NULL, a.told_op, a.kind, a.id, CASE WHEN a.source = 'holds' THEN a.id END,
    'it was first sent ' || (a.told_sent_ns - i.surely_over_ns) // 1000 || ' µs after the end'
FROM acted a JOIN instants i ON i.source = a.source AND i.id = a.id WHERE a.told_sent_ns > i.surely_over_ns
UNION ALL
-- Nobody was told of it, but it happened, and whoever can have brought it about had asked too late.
SELECT s.commit_lsn, s.resource, a.any_op, s.kind, s.id, CASE WHEN s.source = 'holds' THEN s.id END,
    'it was first sent ' || (a.any_sent_ns - i.surely_over_ns) // 1000 || ' µs after the end'
FROM ended s JOIN acted a ON a.kind = s.kind AND a.source = s.source AND a.id = s.id
JOIN instants i ON i.source = s.source AND i.id = s.id
WHERE a.told_op IS NULL AND a.any_sent_ns > i.surely_over_ns;
