-- name: errors_are_earned
-- sentence: The service fails nobody while nothing is broken.
-- needs: operations, faults
-- rests on: history_complete
-- catches: 40001-unretried, lock-order, on-conflict-none

-- looked at
SELECT count(*) FROM undisturbed WHERE status IS NOT NULL OR error IN ('refused', 'reset', 'eof', 'malformed');

-- counter-examples
-- To turn away whom it cannot serve is a service's right: what the target calls shedding is no failure. A node that refuses
-- or drops connections has failed whoever came; who waited in vain may have waited for the machine.
SELECT op, kind, node, status, code, error, sent_ns, done_ns
FROM undisturbed
WHERE error IN ('refused', 'reset', 'eof', 'malformed')
    OR status >= 500 AND coalesce(code NOT IN (SELECT code FROM refusals WHERE meaning = 'shed'), true);
