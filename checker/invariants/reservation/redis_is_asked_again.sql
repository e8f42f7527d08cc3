-- name: redis_is_asked_again
-- sentence: Two seconds after Redis was healed every node asks it again before it lets a command in.
-- needs: operations, faults, samples
-- rests on: history_complete
-- a violation rests on: processors_free
-- catches: breaker-stuck-open

-- looked at
-- Each node with each healing of Redis after which it let somebody in with Redis' word, or enough without.
SELECT count(*) FROM asked_again WHERE again_ns IS NOT NULL OR without_its_word >= 3;

-- counter-examples
-- One or two that Redis was too slow for are none of its absence; three and not one with its word are.
SELECT source AS at_node, fault, healed_ns, without_its_word, (again_ns - healed_ns) // 1000000 AS again_after_ms,
    last_without_ns AS at_ns
FROM asked_again WHERE without_its_word >= 3;
