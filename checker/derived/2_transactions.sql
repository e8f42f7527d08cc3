-- Every transaction of the trail: its window in the WAL, and the earliest instant at which it can have been visible.
CREATE TABLE transactions AS
WITH whole AS (
    SELECT commit_lsn, any_value(xid) AS xid, any_value(commit_us) AS commit_us, min(change_lsn) AS first_lsn, count(*) AS changes
    FROM changes GROUP BY commit_lsn
)
SELECT
    w.*,
    w.commit_us * 1000 - coalesce(c.ahead_ns, (SELECT arg_min(ahead_ns, real_ns) FROM database_clock)) AS commit_ns
FROM whole w ASOF LEFT JOIN database_clock c ON w.commit_us * 1000 >= c.real_ns;

-- Which transactions an operation wrote in: those that touched the record or the answer of its key (the claim of a
-- key by itself proves nothing about the work, so it counts only where answers are not recorded), or made what it names.
CREATE TABLE operation_commits AS
WITH records AS (
    SELECT id, commit_lsn, tenant, operation, key FROM commits.idempotency_records WHERE present
),
keyed AS (
    SELECT DISTINCT tenant, operation, key, commit_lsn FROM records
    WHERE commit_lsn > 0 AND NOT (SELECT answers FROM offered)
    UNION
    SELECT r.tenant, r.operation, r.key, a.commit_lsn
    FROM commits.idempotency_answers a JOIN (SELECT DISTINCT id, tenant, operation, key FROM records) r ON r.id = a.record
    WHERE a.present AND a.commit_lsn > 0
),
made AS (
    SELECT 'hold' AS kind, id, commit_lsn FROM trail.holds WHERE action = 'I'
    UNION ALL SELECT 'confirm', id, commit_lsn FROM trail.reservations WHERE action = 'I'
    UNION ALL SELECT 'accept_offer', id, commit_lsn FROM trail.reservations WHERE action = 'I'
    UNION ALL SELECT 'join_waitlist', id, commit_lsn FROM trail.waitlist_entries WHERE action = 'I'
)
SELECT o.op, k.commit_lsn FROM operations o JOIN keyed k ON k.key = o.key
WHERE coalesce(k.tenant = o.tenant, true) AND coalesce(k.operation = o.kind, true)
UNION
SELECT o.op, m.commit_lsn FROM operations o JOIN made m ON m.id = o.created AND m.kind = o.kind WHERE o.outcome = 'ok';
