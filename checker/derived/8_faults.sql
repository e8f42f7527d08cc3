-- When something was broken, and the second after it was healed in which connections are made anew: by its start, with
-- the latest end of all that had started by then.
CREATE TABLE broken AS
WITH spans AS (
    SELECT coalesce(injected_ns, planned_ns) AS from_ns, coalesce(healed_ns + 1000000000, 9223372036854775807) AS until_ns
    FROM faults WHERE coalesce(injected_ns, landed_ns) IS NOT NULL
)
SELECT from_ns, max(until_ns) OVER (ORDER BY from_ns) AS until_ns FROM spans;

-- Every operation that was under way while Redis was broken, and at no time while anything else was.
CREATE TABLE without_redis AS
WITH spans AS (
    SELECT coalesce(injected_ns, planned_ns) AS from_ns, coalesce(healed_ns + 1000000000, 9223372036854775807) AS until_ns,
        "where" = 'redis' OR "where" LIKE 'redis-%' AS of_redis
    FROM faults WHERE coalesce(injected_ns, landed_ns) IS NOT NULL
),
merged AS (SELECT of_redis, from_ns, max(until_ns) OVER (PARTITION BY of_redis ORDER BY from_ns) AS until_ns FROM spans)
SELECT o.op, o.kind, o.outcome, o.status, o.code, o.sent_ns, o.done_ns
FROM operations o
ASOF JOIN (FROM merged WHERE of_redis) r ON r.from_ns <= o.done_ns
ASOF LEFT JOIN (FROM merged WHERE NOT of_redis) b ON b.from_ns <= o.done_ns
WHERE r.until_ns >= o.sent_ns AND coalesce(b.until_ns < o.sent_ns, true);
