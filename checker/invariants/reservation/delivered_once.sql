-- name: delivered_once
-- sentence: What counts as delivered has reached the provider, and the provider has taken nothing but what was to be delivered, each under its one id.
-- needs: trail, effects, outbox.delivery, outbox.state
-- rests on: trail_complete
-- a pass rests on: states_known
-- catches: send-crash-resend, dead-letter-drop

-- looked at
SELECT count(*) FROM effects WHERE provider = 'notification' AND answer = 'accepted';

-- counter-examples
-- The provider's ledger, provider `notification`: a row each time it was sent to, `effect` the id, `answer` accepted or
-- duplicate. A duplicate under one id is legal, and so is an acceptance of which the worker never heard.
WITH taken AS (
    SELECT effect, count(*) FILTER (answer = 'accepted') AS accepted, min(received_ns) AS received_ns
    FROM effects WHERE provider = 'notification' AND answer IN ('accepted', 'duplicate') GROUP BY effect
),
meant AS (SELECT delivery, max(commit_lsn) FILTER (state = 'DELIVERED') AS delivered_lsn FROM commits.outbox WHERE present GROUP BY delivery)
SELECT m.delivered_lsn AS commit_lsn, coalesce(t.effect, m.delivery) AS delivery,
    CASE WHEN m.delivery IS NULL THEN 'the provider took it, and the outbox knows no such id'
        WHEN t.effect IS NULL THEN 'it counts as delivered, and the provider never took it'
        ELSE 'the provider took it ' || t.accepted || ' times' END AS but
FROM taken t FULL JOIN meant m ON m.delivery = t.effect
WHERE m.delivery IS NULL OR t.effect IS NULL AND m.delivered_lsn > 0 OR t.accepted > 1;
