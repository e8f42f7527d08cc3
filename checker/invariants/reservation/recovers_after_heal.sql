-- name: recovers_after_heal
-- sentence: Once a fault is healed the service decides again, on every node.
-- needs: operations, faults
-- rests on: history_complete
-- catches: pool-never-reconnects

-- looked at
-- Each healing after which somebody had a decision, or enough had none.
SELECT count(*) FROM (
    SELECT h.fault, h.healed_ns FROM healings h
    JOIN operations o ON coalesce(o.sent_ns, o.intended_ns) > h.healed_ns + 1000000000
        AND coalesce(o.sent_ns, o.intended_ns) < h.until_ns
    WHERE h.scope = 'all' GROUP BY h.fault, h.healed_ns
    HAVING count(*) >= 3 OR bool_or(o.outcome <> 'info' AND coalesce(o.status < 500, false))
);

-- counter-examples
-- From a second after a fault was healed to the next fault or the end: not one of three or more was decided, or by one node
-- not one of ten or more, who had not all come at once. Which way is the business of other invariants.
WITH after AS (
    SELECT h.fault, h.healed_ns, o.node, min(o.op) AS op, count(*) AS asked,
        bool_or(o.outcome <> 'info' AND coalesce(o.status < 500, false)) AS decides,
        max(coalesce(o.sent_ns, o.intended_ns)) - min(coalesce(o.sent_ns, o.intended_ns)) AS within_ns
    FROM healings h JOIN operations o ON coalesce(o.sent_ns, o.intended_ns) > h.healed_ns + 1000000000
        AND coalesce(o.sent_ns, o.intended_ns) < h.until_ns
    WHERE h.scope = 'all' GROUP BY h.fault, h.healed_ns, o.node
)
SELECT min(op) AS op, fault, healed_ns, NULL AS node, CAST(sum(asked) AS BIGINT) AS undecided
FROM after GROUP BY fault, healed_ns HAVING sum(asked) >= 3 AND NOT bool_or(decides)
UNION ALL BY NAME
SELECT op, fault, healed_ns, node, asked AS undecided FROM after a
WHERE NOT decides AND asked >= 10 AND within_ns >= 250000000
    AND EXISTS (FROM after b WHERE b.fault = a.fault AND b.healed_ns = a.healed_ns AND b.decides);
