-- name: reused_key_conflicts
-- sentence: A key that is sent again with another command is refused as a conflict, and no other is.
-- needs: operations
-- rests on: history_complete
-- catches: payload-ignored, scope-missing

-- looked at
SELECT count(*) FROM (
    SELECT tenant, kind, key FROM resent GROUP BY tenant, kind, key
    HAVING count(DISTINCT row(owner, subject, quantity, request_digest)) > 1
    UNION
    SELECT tenant, kind, key FROM operations
    WHERE key IS NOT NULL AND code IN (SELECT code FROM refusals WHERE meaning = 'key_conflict')
);

-- counter-examples
-- A command is whose it is, what it is about and how many seats it asks for. The bytes alone do not tell: a default that is
-- spelled out is the same command.
WITH conflicts AS (
    SELECT * FROM operations
    WHERE key IS NOT NULL AND code IN (SELECT code FROM refusals WHERE meaning = 'key_conflict')
),
contested AS (
    SELECT o.* FROM operations o SEMI JOIN conflicts c
    ON c.key = o.key AND c.kind = o.kind AND c.tenant IS NOT DISTINCT FROM o.tenant
)
SELECT max(op) AS op, key, kind, count(DISTINCT row(owner, subject, quantity)) AS commands, 'it answered more commands than one' AS but
FROM resent WHERE answered GROUP BY tenant, kind, key HAVING count(DISTINCT row(owner, subject, quantity)) > 1
UNION ALL
SELECT min(op) FILTER (op IN (SELECT op FROM conflicts)), key, kind, 1, 'it conflicts, and was only sent with this command'
FROM contested GROUP BY tenant, kind, key
HAVING count(DISTINCT row(owner, subject, quantity, request_digest)) = 1;
