-- name: recovers_after_heal
-- sentence: Once a fault is healed the service decides again.
-- needs: operations, faults
-- rests on: history_complete
-- catches: pool-never-reconnects

-- looked at
-- Each healing after which somebody had a decision, or enough had none.
SELECT count(*) FROM (
    SELECT h.fault, h.healed_ns FROM healings h
    JOIN operations o ON o.sent_ns > h.healed_ns + 1000000000 AND o.sent_ns < h.until_ns
    WHERE h.scope = 'all' GROUP BY h.fault, h.healed_ns
    HAVING count(*) >= 3 OR bool_or(o.outcome <> 'info' AND coalesce(o.status < 500, false))
);

-- counter-examples
-- From a second after a fault was healed to the next fault or the end: not one of three or more was decided. Which way is
-- the business of other invariants.
SELECT min(o.op) AS op, h.fault, h.healed_ns, count(*) AS undecided FROM healings h
JOIN operations o ON o.sent_ns > h.healed_ns + 1000000000 AND o.sent_ns < h.until_ns
WHERE h.scope = 'all' GROUP BY h.fault, h.healed_ns
HAVING count(*) >= 3 AND NOT bool_or(o.outcome <> 'info' AND coalesce(o.status < 500, false));
