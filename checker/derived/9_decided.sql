-- Which commit decided each operation that had an effect, found by the ids it names: what it made, or what it ended. One
-- that never learned what became of it is resolved by presence: by the key of what was made, or because no other can have
-- ended what was ended. `sent_ns` is when its key was first sent, `done_ns` null where it was never answered.
CREATE TABLE decided AS
WITH created AS (
    SELECT made, id, image.resource AS resource, image.key AS key, image.tenant AS tenant, commit_lsn FROM made WHERE in_run AND commit_lsn > 0
),
kinds AS (
    SELECT unnest(['hold', 'join_waitlist', 'confirm', 'accept_offer']) AS kind,
        unnest(['holds', 'waitlist_entries', 'reservations', 'reservations']) AS made
),
told AS (
    SELECT a.op, a.kind, a.key, c.resource, c.commit_lsn, a.first_sent_ns, a.done_ns
    FROM attempts a JOIN kinds k ON k.kind = a.kind JOIN created c ON c.made = k.made AND c.id = a.created WHERE a.outcome = 'ok'
    UNION ALL
    SELECT a.op, a.kind, a.key, s.resource, s.commit_lsn, a.first_sent_ns, a.done_ns
    FROM attempts a JOIN ended s ON s.kind = a.kind AND s.id = a.subject WHERE a.outcome = 'ok'
),
present AS (
    SELECT a.op, a.kind, a.key, c.resource, c.commit_lsn, a.first_sent_ns
    FROM attempts a JOIN kinds k ON k.kind = a.kind
    JOIN created c ON c.made = k.made AND c.key = a.key AND coalesce(c.tenant = a.tenant, true)
    WHERE a.outcome = 'info' AND a.sent_ns IS NOT NULL
    UNION ALL
    SELECT any_value(a.op), a.kind, any_value(a.key), any_value(s.resource), any_value(s.commit_lsn), min(a.first_sent_ns)
    FROM attempts a JOIN ended s ON s.kind = a.kind AND s.id = a.subject
    WHERE a.outcome <> 'fail' AND a.sent_ns IS NOT NULL
    GROUP BY a.kind, a.subject HAVING bool_and(a.outcome = 'info')
)
SELECT d.op, d.kind, d.key, d.resource, d.commit_lsn, t.commit_ns, d.first_sent_ns AS sent_ns, d.done_ns
FROM (FROM told UNION ALL SELECT *, NULL FROM present) d JOIN transactions t ON t.commit_lsn = d.commit_lsn;
