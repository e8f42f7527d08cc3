-- name: replay_is_identical
-- sentence: Whoever repeats a command under its key is told what was told before, byte for byte, and nobody is told of a command that was never given.
-- needs: operations
-- rests on: history_complete
-- catches: upsert-clobbers

-- looked at
SELECT count(*) FROM (
    SELECT count(*) OVER (PARTITION BY tenant, kind, key) AS answers FROM resent WHERE answered
) WHERE answers > 1;

-- counter-examples
SELECT max(op) AS op, key, kind, count(DISTINCT row(status, body_digest)) AS answers, 'the answers differ' AS but
FROM resent WHERE answered
GROUP BY tenant, kind, key, owner, subject, quantity, request_digest
HAVING count(DISTINCT row(status, body_digest)) > 1
UNION ALL
SELECT a.op, a.key, a.kind, 1, 'it is a replay, and the key had not been sent before'
FROM answered a ANTI JOIN resent r ON r.op = a.op WHERE a.replayed;
