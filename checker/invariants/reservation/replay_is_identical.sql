-- name: replay_is_identical
-- sentence: Whoever repeats a command under its key is told what was told before, byte for byte, and nobody is told of a command that was never given.
-- needs: operations
-- rests on: history_complete
-- catches: upsert-clobbers, payload-ignored, scope-missing

-- looked at
SELECT count(*) FROM (
    SELECT count(*) OVER (PARTITION BY tenant, kind, key) AS answers FROM resent
    WHERE outcome = 'ok' OR outcome = 'fail' AND code IN (SELECT code FROM refusals WHERE meaning = 'final')
) WHERE answers > 1;

-- counter-examples
-- What is stored under a key is a success or a refusal that the target calls final; all else may differ from one attempt
-- to the next.
SELECT max(op) AS op, key, kind, count(DISTINCT row(status, body_digest)) AS answers, 'the answers differ' AS but
FROM resent
WHERE outcome = 'ok' OR outcome = 'fail' AND code IN (SELECT code FROM refusals WHERE meaning = 'final')
GROUP BY tenant, kind, key, owner, subject, quantity, request_digest
HAVING count(DISTINCT row(status, body_digest)) > 1
UNION ALL
SELECT o.op, o.key, o.kind, 1, 'it is a replay, and the key had not been sent before'
FROM operations o ANTI JOIN resent r ON r.op = o.op
WHERE o.replayed AND o.key IS NOT NULL
    AND (o.outcome = 'ok' OR o.outcome = 'fail' AND o.code IN (SELECT code FROM refusals WHERE meaning = 'final'));
