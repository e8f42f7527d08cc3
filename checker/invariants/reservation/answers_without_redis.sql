-- name: answers_without_redis
-- sentence: While nothing but Redis is broken the service answers, and fails nobody.
-- needs: operations, faults
-- rests on: history_complete
-- a violation rests on: processors_free
-- catches: fail-mode-wrong

-- looked at
SELECT count(*) FROM without_redis WHERE status IS NOT NULL OR error IN ('refused', 'reset', 'eof', 'malformed');

-- counter-examples
-- Whoever is failed outright is one. To turn away one or another is a service's right, and who waited in vain may have
-- waited for the machine: no single one of those tells. But a node that, of the commands that came to it while one fault of
-- Redis was in place, let fewer than one in ten through, and turned the others away or never answered them, serves nobody
-- without Redis. A fault is in place from its proof on, and what is answered after its healing is nobody's.
WITH told AS (
    SELECT *, code IN (SELECT code FROM refusals WHERE meaning = 'shed') IS TRUE AS shed,
        error IN ('refused', 'reset', 'eof', 'malformed') IS TRUE AS cut_off
    FROM without_redis
),
served AS (
    SELECT t.node, b.fault, b.from_ns, min(t.op) FILTER (t.shed OR t.status IS NULL) AS op,
        count(*) FILTER (t.shed) AS turned_away, count(*) FILTER (t.status IS NULL AND NOT t.cut_off) AS never_answered,
        count(*) FILTER (t.status < 500 AND NOT t.shed AND t.done_ns <= coalesce(b.healed_ns, t.done_ns)) AS let_through
    FROM told t JOIN breakages b ON b.of_redis AND t.left_ns >= coalesce(b.landed_ns, b.from_ns)
        AND t.left_ns <= coalesce(b.healed_ns, t.left_ns)
    WHERE t.key IS NOT NULL
    GROUP BY t.node, b.fault, b.from_ns
)
SELECT op, node, NULL AS fault, kind, status, code, error, sent_ns, done_ns, NULL AS turned_away, NULL AS never_answered, NULL AS let_through
FROM told WHERE cut_off OR status >= 500 AND NOT shed
UNION ALL BY NAME
SELECT op, node, fault, turned_away, never_answered, let_through
FROM served WHERE turned_away + never_answered >= 5 AND let_through * 10 < turned_away + never_answered + let_through;
