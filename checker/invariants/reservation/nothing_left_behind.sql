-- name: nothing_left_behind
-- sentence: When everything has settled nothing is overdue, claimed, owed or half done.
-- needs: state, holds.state
-- rests on: nothing
-- a pass rests on: states_known, clocks_comparable
-- catches: never-released, claimed-forever, sweep-aborts, offset-skip, stops-at-bad-head, zone-clock, poison-head, gap-stalls,
--   sweep-on-replica, stuck-in-progress

-- looked at
SELECT (SELECT count(*) FROM state.holds) + (SELECT count(*) FROM state.offers) + (SELECT count(*) FROM state.waitlist_entries)
    + (SELECT count(*) FROM state.outbox);

-- counter-examples
-- Overdue is what a sweep or a worker should have seen to five seconds ago. A resource's own name is shown, not its
-- claims, for nothing here has a place in the order of commits. Samples of the source `unsettled` are what the runner
-- still saw owed at the end of its patience, the last of each. A claim until `infinity` has no end in evidence.
-- A deadline is of the clock as it stood when it was written: however far the clock was moved since is nobody's delay.
WITH moved AS (SELECT ns // 1000 AS us FROM clock_spread),
now AS (SELECT read_us - 5000000 - moved.us AS us FROM at_rest, moved),
room AS (
    SELECT r.id, r.capacity - coalesce(c.claimed, 0) AS room, r.state
    FROM state.resources r LEFT JOIN claims_at_rest c ON c.resource = r.id
),
owed AS (
    SELECT metric, arg_max(value, mono_ns) AS value FROM samples
    WHERE source = 'unsettled' AND metric <> 'open transactions' GROUP BY metric
)
SELECT 'holds' AS kind, id, state, 'its time was over' AS but FROM state.holds, now WHERE state = 'ACTIVE' AND expires_us < now.us
UNION ALL SELECT 'offers', id, state, 'its time was over' FROM state.offers, now WHERE state = 'ACTIVE' AND expires_us < now.us
UNION ALL SELECT 'outbox', delivery, state, 'it was due' FROM state.outbox, now WHERE state = 'PENDING' AND next_us < now.us
UNION ALL SELECT 'outbox', delivery, state, 'its claim had lapsed' FROM state.outbox, now WHERE state = 'CLAIMED' AND claimed_until_us < now.us
UNION ALL SELECT 'idempotency_records', r.key, NULL,
    'it has no answer, and is claimed for ' || CASE WHEN r.claimed_until_us IS NULL THEN 'ever' ELSE 'longer than a claim may last' END
FROM at_rest, moved, state.idempotency_records r LEFT JOIN state.idempotency_answers a ON a.record = r.id
WHERE a.record IS NULL AND (SELECT answers FROM offered)
    AND (r.claimed_until_us > read_us + claim_us_max + moved.us OR r.claimed_until_us IS NULL AND claim_us_max IS NOT NULL)
UNION ALL SELECT 'waitlist_entries', e.id, e.state, 'it has no live offer'
FROM state.waitlist_entries e LEFT JOIN state.offers o ON o.entry = e.id AND o.state = 'ACTIVE'
WHERE e.state = 'OFFERED' AND o.id IS NULL AND (SELECT offers FROM offered)
UNION ALL SELECT 'waitlist_entries', e.id, e.state, CASE r.state WHEN 'OPEN' THEN 'a seat is free' ELSE 'its resource is closed' END
FROM state.waitlist_entries e JOIN room r ON r.id = e.resource WHERE e.state = 'WAITING' AND (r.room > 0 OR r.state <> 'OPEN')
UNION ALL SELECT metric, NULL, NULL, CAST(CAST(value AS BIGINT) AS VARCHAR) || ' still were when the time to settle was up' FROM owed WHERE value > 0;
