-- What was broken, from its injection to the second after it was healed in which connections are made anew. Whether it can
-- touch an answer: a caller is told by the nodes' own monotonic clocks and by the database's, so what the wall clock of a
-- process says is none of it; no node asks a provider; and a worker that ends takes its locks with it, while one that stands
-- still, or that the database cannot hear, keeps them.
CREATE TABLE breakages AS
SELECT fault, coalesce(injected_ns, landed_ns) AS from_ns, landed_ns, healed_ns, coalesce(healed_ns + 1000000000, 9223372036854775807) AS until_ns,
    "where" = 'redis' OR starts_with("where", 'redis-') AS of_redis,
    kind NOT IN ('clock', 'provider')
        AND NOT (kind IN ('kill', 'terminate', 'restart', 'crash_at') AND ("where" = 'leader' OR starts_with("where", 'worker-')))
        AS touches_answers
FROM faults WHERE coalesce(injected_ns, landed_ns) IS NOT NULL;

-- When anything was broken: by its start, with the latest end of all that had started by then.
CREATE TABLE broken AS
SELECT from_ns, max(until_ns) OVER (ORDER BY from_ns) AS until_ns FROM breakages;

-- Every operation that was under way at no time while anything was broken that can touch an answer.
CREATE VIEW undisturbed AS
WITH touched AS (
    SELECT from_ns, max(until_ns) OVER (ORDER BY from_ns) AS until_ns FROM breakages WHERE touches_answers
)
SELECT o.* FROM operations o ASOF LEFT JOIN touched t ON t.from_ns <= coalesce(o.done_ns, 9223372036854775807)
WHERE coalesce(t.until_ns < coalesce(o.sent_ns, o.intended_ns), true);

-- Every operation that was under way while Redis was broken, and at no time while anything else was. Whoever never had an
-- answer was under way when it was sent; for how long nobody knows, and whatever broke later may be why.
CREATE VIEW without_redis AS
WITH asked AS (
    SELECT *, coalesce(sent_ns, intended_ns) AS left_ns, coalesce(done_ns, sent_ns, intended_ns) AS last_ns FROM operations
    -- Between the first and the last breakage of Redis, if there is any: few or none are sorted then.
    WHERE coalesce(done_ns, sent_ns, intended_ns) >= (SELECT min(from_ns) FROM breakages WHERE of_redis AND touches_answers)
        AND coalesce(sent_ns, intended_ns) <= (SELECT max(until_ns) FROM breakages WHERE of_redis AND touches_answers)
),
merged AS (
    SELECT of_redis, from_ns, max(until_ns) OVER (PARTITION BY of_redis ORDER BY from_ns) AS until_ns
    FROM breakages WHERE touches_answers
)
SELECT o.* EXCLUDE (last_ns)
FROM asked o
ASOF JOIN (FROM merged WHERE of_redis) r ON r.from_ns <= o.last_ns
ASOF LEFT JOIN (FROM merged WHERE NOT of_redis) b ON b.from_ns <= coalesce(o.done_ns, 9223372036854775807)
WHERE r.until_ns >= o.left_ns AND coalesce(b.until_ns < o.left_ns, true);

-- Every healing, of all faults and of those of Redis by themselves, with the next fault of that scope, healed or not. None
-- after which another was still in place: nothing was well then.
CREATE TABLE healings AS
WITH scoped AS (
    SELECT 'all' AS scope, * FROM breakages UNION ALL SELECT 'redis', * FROM breakages WHERE of_redis
)
SELECT DISTINCT h.scope, h.fault, h.healed_ns, coalesce(
    (SELECT min(n.from_ns) FROM scoped n WHERE n.scope = h.scope AND n.touches_answers AND n.from_ns > h.healed_ns),
    9223372036854775807
) AS until_ns
FROM scoped h WHERE h.healed_ns IS NOT NULL AND NOT EXISTS (
    FROM scoped n WHERE n.scope = h.scope AND n.touches_answers
        AND n.from_ns <= h.healed_ns AND coalesce(n.healed_ns, 9223372036854775807) > h.healed_ns
);

-- How each node went back to Redis after a healing of it: when a command was first let in with its word again, and how many
-- were let in without until then. Samples of source `admission/<node>`: by whom, as the answer said, at the instant of
-- sending. Two seconds may pass; then the first to come may be the one that tries, and those beside it do not wait for it.
CREATE TABLE asked_again AS
WITH after AS (
    SELECT s.source, s.metric, s.mono_ns, h.fault, h.healed_ns,
        min(s.mono_ns) FILTER (s.metric = 'redis') OVER each_node AS again_ns,
        min(s.mono_ns) FILTER (s.mono_ns > h.healed_ns + 2000000000) OVER each_node AS tries_ns
    FROM samples s JOIN healings h ON h.scope = 'redis' AND s.mono_ns > h.healed_ns AND s.mono_ns < h.until_ns
    WHERE starts_with(s.source, 'admission/')
    WINDOW each_node AS (PARTITION BY s.source, h.fault, h.healed_ns)
)
SELECT source, fault, healed_ns, any_value(again_ns) AS again_ns, count(*) FILTER (went_without) AS without_its_word,
    max(mono_ns) FILTER (went_without) AS last_without_ns
FROM (
    SELECT *, metric <> 'redis' AND mono_ns > tries_ns + 250000000 AND mono_ns < coalesce(again_ns, 9223372036854775807) AS went_without
    FROM after
) GROUP BY source, fault, healed_ns;
