-- name: transient_answers_are_not_pinned
-- sentence: What stands in the way for a while is never stored as the answer to a key.
-- needs: operations
-- rests on: nothing
-- a pass rests on: history_complete
-- catches: error-pinned

-- looked at
SELECT count(*) FROM operations
WHERE key IS NOT NULL AND (status >= 500 OR code IN (SELECT code FROM refusals WHERE meaning = 'transient'));

-- counter-examples
SELECT op, key, kind, status, code, 'it was replayed' AS but FROM operations
WHERE replayed AND (status >= 500 OR code IN (SELECT code FROM refusals WHERE meaning = 'transient'))
UNION ALL
SELECT NULL, r.key, r.operation, a.status, NULL, 'it was stored'
FROM (SELECT DISTINCT record, status FROM commits.idempotency_answers WHERE present AND commit_lsn > 0) a
JOIN (SELECT DISTINCT id, key, operation FROM commits.idempotency_records WHERE present) r ON r.id = a.record
WHERE a.status >= 500;
