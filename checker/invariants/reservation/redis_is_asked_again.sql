-- name: redis_is_asked_again
-- sentence: Two seconds after Redis was healed every node asks it again before it lets a command in.
-- needs: operations, faults, samples
-- rests on: history_complete
-- catches: fail-mode-wrong, dirty-connection

-- looked at
-- Each node with each healing of Redis after which it let somebody in with Redis' word, or without two seconds later.
WITH healed AS (
    SELECT DISTINCT healed_ns FROM faults WHERE healed_ns IS NOT NULL AND ("where" = 'redis' OR starts_with("where", 'redis-'))
)
SELECT count(DISTINCT row(s.source, h.healed_ns)) FROM samples s ASOF JOIN healed h ON s.mono_ns > h.healed_ns
WHERE starts_with(s.source, 'admission/') AND (s.metric = 'redis' OR s.mono_ns > h.healed_ns + 2000000000);

-- counter-examples
-- Samples of source `admission/<node>`: by whom a command was let in, as its answer said, at the instant it was sent. One
-- or two that Redis was too slow for are none of its absence; three and not one with its word are.
WITH healed AS (
    SELECT fault, healed_ns, coalesce(lead(least(injected_ns, healed_ns)) OVER (ORDER BY healed_ns), 9223372036854775807) AS until_ns
    FROM faults WHERE healed_ns IS NOT NULL AND ("where" = 'redis' OR starts_with("where", 'redis-'))
),
after AS (
    SELECT s.source, s.metric, s.mono_ns, h.fault, h.healed_ns,
        min(s.mono_ns) FILTER (s.metric = 'redis') OVER (PARTITION BY s.source, h.fault, h.healed_ns) AS again_ns
    FROM samples s ASOF JOIN healed h ON s.mono_ns > h.healed_ns
    WHERE starts_with(s.source, 'admission/') AND s.mono_ns < h.until_ns
)
SELECT source AS at_node, fault, healed_ns, count(*) AS without_its_word, any_value(again_ns - healed_ns) // 1000000 AS again_after_ms
FROM after WHERE metric <> 'redis' AND mono_ns > healed_ns + 2000000000 AND mono_ns < coalesce(again_ns, 9223372036854775807)
GROUP BY source, fault, healed_ns HAVING count(*) >= 3;
