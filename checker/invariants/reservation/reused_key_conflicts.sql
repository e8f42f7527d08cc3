-- name: reused_key_conflicts
-- sentence: A key that is sent again with another command is refused as a conflict, and no other is.
-- needs: operations
-- rests on: history_complete
-- catches: payload-ignored, scope-missing

-- looked at
SELECT count(*) FROM (
    SELECT key FROM operations WHERE key IS NOT NULL GROUP BY tenant, kind, key
    HAVING count(DISTINCT row(owner, subject, quantity, request_digest)) > 1
        OR bool_or(code IN (SELECT code FROM refusals WHERE meaning = 'key_conflict'))
);

-- counter-examples
-- A command is whose it is, what it is about and how many seats it asks for. The bytes alone do not tell: a default that is
-- spelled out is the same command.
WITH told AS (
    SELECT *, outcome = 'ok' OR outcome = 'fail' AND code IN (SELECT code FROM refusals WHERE meaning = 'final') AS answered,
        coalesce(code IN (SELECT code FROM refusals WHERE meaning = 'key_conflict'), false) AS conflict
    FROM operations WHERE key IS NOT NULL
)
SELECT max(op) FILTER (answered) AS op, key, kind, count(DISTINCT row(owner, subject, quantity)) FILTER (answered) AS commands,
    'it answered more commands than one' AS but
FROM told GROUP BY tenant, kind, key HAVING count(DISTINCT row(owner, subject, quantity)) FILTER (answered) > 1
UNION ALL
SELECT min(op) FILTER (conflict), key, kind, 1, 'it conflicts, and was only sent with this command'
FROM told GROUP BY tenant, kind, key
HAVING bool_or(conflict) AND count(DISTINCT row(owner, subject, quantity, request_digest)) = 1;
