-- name: errors_are_earned
-- sentence: The service fails nobody while nothing is broken, and no node turns everybody away.
-- needs: operations, faults
-- rests on: history_complete
-- a violation rests on: processors_free
-- catches: 40001-unretried, lock-order, on-conflict-none

-- looked at
SELECT count(*) FROM undisturbed WHERE status IS NOT NULL OR error IN ('refused', 'reset', 'eof', 'malformed');

-- counter-examples
-- To turn away whom it cannot serve is a service's right: what the target calls shedding is no failure. A node that refuses
-- or drops connections has failed whoever came; who waited in vain may have waited for the machine. But a node that
-- decided none of twenty commands or more, which came to it over two seconds and longer, serves nobody: there is no rush that
-- no one gets through. Counted by quarters of a second, by when it was asked: so few that what was broken is soon looked up.
WITH quarters AS (
    SELECT node, coalesce(sent_ns, intended_ns) // 250000000 AS quarter, min(op) AS op, count(*) AS commands,
        count(*) FILTER (code IN (SELECT code FROM refusals WHERE meaning = 'shed')) AS turned_away,
        count(*) FILTER (status IS NULL) AS never_answered,
        count(*) FILTER (status < 500 AND coalesce(code NOT IN (SELECT code FROM refusals WHERE meaning = 'shed'), true)) AS decided,
        min(coalesce(sent_ns, intended_ns)) AS first_ns, max(coalesce(sent_ns, intended_ns)) AS last_ns,
        max(coalesce(done_ns, 9223372036854775807)) AS over_ns
    FROM operations WHERE kind NOT IN ('read', 'warm', 'create_resource') GROUP BY ALL
),
touched AS (SELECT from_ns, max(until_ns) OVER (ORDER BY from_ns) AS until_ns FROM breakages WHERE touches_answers),
judged AS (
    SELECT q.*, q.decided = 0 AND coalesce(t.until_ns < q.first_ns, true) AS unserved
    FROM quarters q ASOF LEFT JOIN touched t ON t.from_ns <= q.over_ns
),
stretches AS (SELECT *, count(*) FILTER (NOT unserved) OVER (PARTITION BY node ORDER BY quarter) AS stretch FROM judged),
unserved AS (
    SELECT node, min(op) AS op, min(first_ns) AS since_ns, max(last_ns) AS until_ns, CAST(sum(commands) AS BIGINT) AS commands,
        CAST(sum(turned_away) AS BIGINT) AS turned_away, CAST(sum(never_answered) AS BIGINT) AS never_answered
    FROM stretches WHERE unserved GROUP BY node, stretch
)
SELECT op, kind, node, status, code, error, sent_ns, done_ns, NULL AS commands, NULL AS turned_away, NULL AS never_answered
FROM undisturbed
WHERE error IN ('refused', 'reset', 'eof', 'malformed')
    OR status >= 500 AND coalesce(code NOT IN (SELECT code FROM refusals WHERE meaning = 'shed'), true)
UNION ALL BY NAME
SELECT op, node, since_ns AS sent_ns, until_ns AS done_ns, commands, turned_away, never_answered
FROM unserved WHERE commands >= 20 AND until_ns - since_ns >= 2000000000;
