-- name: refused_left_no_trace
-- sentence: Where every attempt under a key was refused, nothing came of it.
-- needs: operations, trail, holds
-- rests on: trail_complete, history_complete
-- catches: commit-unknown

-- looked at
SELECT count(*) FROM (SELECT key FROM operations WHERE key IS NOT NULL GROUP BY tenant, kind, key HAVING bool_and(outcome = 'fail'));

-- counter-examples
WITH refused AS (
    SELECT tenant, kind, key, max(op) AS op FROM operations WHERE key IS NOT NULL
    GROUP BY tenant, kind, key HAVING bool_and(outcome = 'fail')
),
-- An end has its subject's whole story: some other key may have brought it about.
unmoved AS (
    SELECT kind, subject, max(op) AS op FROM operations WHERE kind IN (SELECT kind FROM ends)
    GROUP BY kind, subject HAVING bool_and(outcome = 'fail')
),
answers AS (
    SELECT DISTINCT r.tenant, r.operation, r.key, a.status
    FROM commits.idempotency_answers a JOIN commits.idempotency_records r ON r.id = a.record
    WHERE a.present AND r.present AND a.status < 300
)
SELECT m.commit_lsn, r.op, r.kind, r.key, m.made || ' ' || m.id AS trace, CASE WHEN m.made = 'holds' THEN m.id END AS hold
FROM refused r JOIN made m ON m.image.key = r.key AND coalesce(m.image.tenant = r.tenant, true)
    AND m.made = CASE r.kind WHEN 'hold' THEN 'holds' WHEN 'join_waitlist' THEN 'waitlist_entries' END
WHERE m.in_run
UNION ALL
SELECT NULL, r.op, r.kind, r.key, 'a stored answer of status ' || a.status, NULL
FROM refused r JOIN answers a ON a.key = r.key AND a.operation = r.kind AND coalesce(a.tenant = r.tenant, true)
UNION ALL
SELECT s.commit_lsn, u.op, u.kind, NULL, s.source || ' ' || s.id || ' is ' || s.state, CASE WHEN s.source = 'holds' THEN s.id END
FROM unmoved u JOIN ended s ON s.kind = u.kind AND s.id = u.subject;
