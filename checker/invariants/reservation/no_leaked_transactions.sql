-- name: no_leaked_transactions
-- sentence: No transaction is left open: not at rest, and none idles for long while nothing is broken.
-- needs: samples
-- rests on: nothing
-- catches: advisory-leak

-- looked at
-- As often as each was looked at: what idles, what is open at rest, and what is locked.
SELECT least(count(*) FILTER (metric = 'idle_in_transaction_seconds'), count(*) FILTER (metric = 'transaction_seconds'),
    count(*) FILTER (metric = 'advisory_locks'))
FROM samples WHERE source = 'database';

-- counter-examples
-- Samples of source `database`: `idle_in_transaction_seconds` (how long the longest has idled; 0: none idles), at rest
-- `advisory_locks`, and `transaction_seconds`: how long the oldest has been open, at each look that the runner takes while
-- everything settles. Five seconds is beyond every limit of a healthy service.
SELECT s.mono_ns AS at_ns, s.metric, s.value FROM samples s ASOF LEFT JOIN broken b ON b.from_ns <= s.mono_ns
WHERE s.source = 'database' AND s.metric = 'idle_in_transaction_seconds' AND s.value > 5
    AND coalesce(b.until_ns < s.mono_ns - CAST(s.value * 1e9 AS BIGINT), true)
UNION ALL
-- Who still looks for work is in some transaction now and then, each time in another: leaked is what had been open for a
-- second when the last but one look was taken, and still is at the last.
SELECT mono_ns, metric, value FROM (
    SELECT *, lag(mono_ns) OVER (ORDER BY mono_ns) AS before_ns FROM samples
    WHERE source = 'database' AND metric = 'transaction_seconds'
    QUALIFY row_number() OVER (ORDER BY mono_ns DESC) = 1
) WHERE value >= 1 + (mono_ns - before_ns) / 1e9
UNION ALL
-- Locks are still seen when the service has ended, and has let them go by that.
SELECT mono_ns, metric, value FROM (
    FROM samples WHERE source = 'database' AND metric = 'advisory_locks' AND mono_ns <= coalesce(
        (SELECT max(mono_ns) FROM samples WHERE source = 'unsettled' AND metric = 'open transactions'), mono_ns)
    QUALIFY row_number() OVER (ORDER BY mono_ns DESC) = 1
) WHERE value > 0;
