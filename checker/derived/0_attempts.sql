-- Answers that are stored under their key: a success, or a refusal that the target calls final. All else may differ from
-- one attempt to the next.
CREATE VIEW answered AS
SELECT * FROM operations
WHERE key IS NOT NULL
    AND (outcome = 'ok' OR outcome = 'fail' AND code IN (SELECT code FROM refusals WHERE meaning = 'final'));

-- Operations under a key that was sent more than once: few, and the only ones of which answers can be compared.
CREATE TABLE resent AS
WITH many AS (
    SELECT tenant, kind, key FROM operations WHERE key IS NOT NULL GROUP BY tenant, kind, key HAVING count(*) > 1
)
SELECT o.*, o.op IN (SELECT op FROM answered) AS answered FROM operations o
SEMI JOIN many m ON m.key = o.key AND m.kind = o.kind AND m.tenant IS NOT DISTINCT FROM o.tenant;

-- Operations, each with the instant at which its key was first sent: whatever it is told was decided since then.
CREATE VIEW attempts AS
SELECT o.*, coalesce(f.sent_ns, o.sent_ns) AS first_sent_ns
FROM operations o LEFT JOIN (SELECT tenant, kind, key, min(sent_ns) AS sent_ns FROM resent GROUP BY ALL) f
    ON f.key = o.key AND f.kind = o.kind AND f.tenant IS NOT DISTINCT FROM o.tenant;
