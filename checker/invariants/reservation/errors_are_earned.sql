-- name: errors_are_earned
-- sentence: The service fails nobody while nothing is broken.
-- needs: operations, faults
-- rests on: history_complete
-- catches: 40001-unretried, lock-order, on-conflict-none, fail-mode-wrong, pay-in-row-lock

-- looked at
SELECT count(*) FROM operations WHERE status IS NOT NULL OR error IN ('refused', 'reset', 'eof', 'malformed');

-- counter-examples
-- To turn away whom it cannot serve is a service's right: what the target calls shedding is no failure. A node that refuses
-- or drops connections has failed whoever came; who waited in vain may have waited for the machine.
SELECT o.op, o.kind, o.node, o.status, o.code, o.error, o.sent_ns, o.done_ns
FROM operations o ASOF LEFT JOIN broken b ON b.from_ns <= o.done_ns
WHERE coalesce(b.until_ns < coalesce(o.sent_ns, o.intended_ns), true)
    AND (o.error IN ('refused', 'reset', 'eof', 'malformed')
        OR o.status >= 500 AND coalesce(o.code NOT IN (SELECT code FROM refusals WHERE meaning = 'shed'), true));
