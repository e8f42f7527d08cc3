-- name: redis_never_decides
-- sentence: Whoever is refused for good was refused by PostgreSQL, where the refusal stands under its key.
-- needs: operations, trail, idempotency_records.key, idempotency_answers.status
-- rests on: trail_complete
-- catches: redis-authority

-- looked at
SELECT count(*) FROM operations
WHERE outcome = 'fail' AND key IS NOT NULL AND code IN (SELECT code FROM refusals WHERE meaning = 'final');

-- counter-examples
WITH answers AS (
    SELECT DISTINCT r.tenant, r.operation, r.key, a.status
    FROM commits.idempotency_answers a JOIN commits.idempotency_records r ON r.id = a.record WHERE a.present AND r.present
)
SELECT o.op, o.kind, o.subject, o.key, o.code
FROM operations o LEFT JOIN answers a
    ON a.key = o.key AND coalesce(a.tenant = o.tenant, true) AND coalesce(a.operation = o.kind, true) AND a.status = o.status
WHERE o.outcome = 'fail' AND o.key IS NOT NULL AND a.key IS NULL
    AND o.code IN (SELECT code FROM refusals WHERE meaning = 'final');
