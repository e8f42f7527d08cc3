-- name: no_leaked_transactions
-- sentence: No transaction is left open: not at rest, and none idles for long while nothing is broken.
-- needs: samples
-- rests on: nothing
-- catches: advisory-leak, dirty-connection, pay-in-row-lock

-- looked at
SELECT count(*) FROM samples
WHERE source = 'database' AND metric = 'idle_in_transaction_seconds' OR source = 'unsettled' AND metric = 'open transactions';

-- counter-examples
-- Samples of source `database`: `idle_in_transaction_seconds` (how long the longest has idled; 0: none idles) and, at rest,
-- `advisory_locks`; of source `unsettled`: `open transactions`. Five seconds is beyond every limit of a healthy service.
SELECT s.mono_ns AS at_ns, s.metric, s.value FROM samples s ASOF LEFT JOIN broken b ON b.from_ns <= s.mono_ns
WHERE s.source = 'database' AND s.metric = 'idle_in_transaction_seconds' AND s.value > 5
    AND coalesce(b.until_ns < s.mono_ns - CAST(s.value * 1e9 AS BIGINT), true)
UNION ALL
-- Who still looks for work has a statement under way now and then: what was leaked is open at each of the last looks.
SELECT max(mono_ns), metric, min(value) FROM (
    FROM samples WHERE source = 'unsettled' AND metric = 'open transactions'
        -- Locks are still seen when the service has ended, and has let them go by that.
        OR source = 'database' AND metric = 'advisory_locks' AND mono_ns <= coalesce(
            (SELECT max(mono_ns) FROM samples WHERE source = 'unsettled' AND metric = 'open transactions'), mono_ns)
    QUALIFY row_number() OVER (PARTITION BY metric ORDER BY mono_ns DESC) <= CASE metric WHEN 'advisory_locks' THEN 1 ELSE 20 END
) GROUP BY metric HAVING min(value) > 0;
