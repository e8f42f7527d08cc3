-- name: answers_without_redis
-- sentence: While nothing but Redis is broken the service answers, and fails nobody.
-- needs: operations, faults
-- rests on: history_complete
-- catches: fail-mode-wrong

-- looked at
SELECT count(*) FROM without_redis;

-- counter-examples
-- To turn away whom it cannot serve is a service's right. Whoever had no answer at all waited in vain for an adviser.
SELECT op, kind, status, code, sent_ns, done_ns
FROM without_redis
WHERE coalesce(status >= 500, outcome = 'info') AND coalesce(code NOT IN (SELECT code FROM refusals WHERE meaning = 'shed'), true);
