-- name: recovers_after_heal
-- sentence: Once a fault is healed the service decides again.
-- needs: operations, faults
-- rests on: history_complete
-- catches: dirty-connection, fail-mode-wrong, permit-leak

-- looked at
SELECT count(DISTINCT row(f.fault, f.healed_ns)) FROM faults f
JOIN (SELECT max(sent_ns) AS sent_ns FROM operations) o ON o.sent_ns > f.healed_ns + 1000000000;

-- counter-examples
-- From a second after a fault was healed to the next fault or the end: not one of three or more was decided. Which way is
-- the business of other invariants.
WITH healed AS (
    SELECT fault, healed_ns, healed_ns + 1000000000 AS from_ns,
        coalesce(lead(least(injected_ns, healed_ns)) OVER (ORDER BY healed_ns), 9223372036854775807) AS until_ns
    FROM faults WHERE healed_ns IS NOT NULL
),
sent AS (
    SELECT op, sent_ns, outcome <> 'info' AND coalesce(status < 500, false) AS decided FROM operations WHERE sent_ns IS NOT NULL
)
SELECT min(s.op) AS op, h.fault, h.healed_ns, count(*) AS undecided
FROM sent s ASOF JOIN healed h ON s.sent_ns > h.from_ns
WHERE s.sent_ns < h.until_ns
GROUP BY h.fault, h.healed_ns HAVING count(*) >= 3 AND NOT bool_or(s.decided);
