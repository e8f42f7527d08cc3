-- name: never_oversold
-- No count was ever below zero or above the capacity, not even for one change.
SELECT became FROM witnessed
WHERE resource = :resource AND relation = 'resources'
  AND NOT (0 <= (became->>'occupied_count')::bigint AND (became->>'occupied_count')::bigint <= (became->>'capacity')::bigint)

-- name: occupancy_matches_claims
-- The count is the sum of the live holds, the live offers and the confirmed reservations.
SELECT r.occupied_count, claimed.seats FROM resources AS r, LATERAL (
    SELECT coalesce((SELECT sum(quantity) FROM holds WHERE resource_id = r.id AND state = 'ACTIVE'), 0)
         + coalesce((SELECT sum(quantity) FROM reservations WHERE resource_id = r.id AND state = 'CONFIRMED'), 0)
         + (SELECT count(*) FROM offers WHERE resource_id = r.id AND state = 'ACTIVE') AS seats
) AS claimed
WHERE r.id = :resource AND r.occupied_count <> claimed.seats

-- name: nobody_waits_for_a_free_seat
-- Who waits, waits for a seat of an open resource that is full.
SELECT e.id, r.state, r.occupied_count, r.capacity FROM waitlist_entries AS e JOIN resources AS r ON r.id = e.resource_id
WHERE r.id = :resource AND e.state = 'WAITING' AND (r.state <> 'OPEN' OR r.occupied_count < r.capacity)

-- name: oldest_waiter_first
-- An offer never went past somebody who had joined earlier and was still waiting.
SELECT promoted.id, passed_over.id FROM witnessed AS promoted JOIN witnessed AS passed_over USING (resource)
WHERE resource = :resource AND promoted.relation = 'waitlist_entries' AND passed_over.relation = 'waitlist_entries'
  AND promoted.was->>'state' = 'WAITING' AND promoted.became->>'state' = 'OFFERED'
  AND passed_over.was IS NULL AND passed_over.id < promoted.id
  AND (passed_over.became->>'seq')::bigint < (promoted.became->>'seq')::bigint
  AND NOT EXISTS (
      SELECT FROM witnessed AS over WHERE over.resource = promoted.resource AND over.relation = 'waitlist_entries'
      AND over.became->>'id' = passed_over.became->>'id' AND over.became->>'state' <> 'WAITING' AND over.id < promoted.id)

-- name: offers_are_made_in_the_order_of_the_line
-- Of two who got an offer, the one who had joined earlier got the earlier offer.
SELECT a.id, b.id FROM waitlist_entries AS a JOIN offers AS first ON first.entry_id = a.id
JOIN waitlist_entries AS b ON b.resource_id = a.resource_id AND a.seq < b.seq JOIN offers AS second ON second.entry_id = b.id
WHERE a.resource_id = :resource AND first.id > second.id

-- name: places_are_drawn_in_order
-- Who joined later stands behind.
SELECT a.id, b.id FROM witnessed AS a JOIN witnessed AS b USING (resource)
WHERE resource = :resource AND a.relation = 'waitlist_entries' AND b.relation = 'waitlist_entries'
  AND a.was IS NULL AND b.was IS NULL AND a.id < b.id AND (a.became->>'seq')::bigint > (b.became->>'seq')::bigint

-- name: revision_moves_with_the_count
-- The revision rises by one with every hold, and with every other change of the count; with nothing else.
SELECT w.was, w.became, taken.holds FROM witnessed AS w, LATERAL (
    SELECT count(*) AS holds FROM witnessed
    WHERE resource = w.resource AND transaction = w.transaction AND relation = 'holds' AND was IS NULL
) AS taken
WHERE w.resource = :resource AND w.relation = 'resources' AND w.was IS NOT NULL
  AND (w.became->>'revision')::bigint - (w.was->>'revision')::bigint
      <> CASE WHEN w.became->'occupied_count' = w.was->'occupied_count' THEN 0 ELSE greatest(1, taken.holds) END

-- name: every_hold_has_a_revision_of_its_own
-- No two holds are told the same revision of the resource.
SELECT a.body::json->>'resourceRevision' AS revision, count(*) FROM idempotency_records AS r
JOIN idempotency_answers AS a ON a.record_id = r.id
WHERE r.operation = 'hold' AND a.status = 201 AND r.tenant = (SELECT tenant FROM resources WHERE id = :resource)
GROUP BY 1 HAVING count(*) > 1

-- name: terminal_rows_never_change
-- What has ended stays as it ended, and nothing is deleted.
SELECT relation, was, became FROM witnessed
WHERE resource = :resource AND was IS NOT NULL
  AND (became IS NULL OR relation <> 'resources' AND was->>'state' NOT IN ('ACTIVE', 'WAITING', 'OFFERED', 'CONFIRMED')
       OR relation = 'holds' AND was->>'state' = 'CONFIRMED' OR was->>'state' = 'CLOSED' AND became->>'state' <> 'CLOSED')

-- name: every_change_of_a_row_is_counted
-- A claim's own revision says how often its state has changed.
SELECT relation, was, became FROM witnessed
WHERE resource = :resource AND relation <> 'resources' AND was IS NOT NULL
  AND (became->>'revision')::bigint - (was->>'revision')::bigint <> (became->'state' <> was->'state')::int

-- name: closed_promotes_nobody
-- Nothing is held, joined or offered once the resource is closed.
SELECT later.relation, later.became FROM witnessed AS closing JOIN witnessed AS later USING (resource)
WHERE resource = :resource AND closing.relation = 'resources' AND closing.became->>'state' = 'CLOSED'
  AND later.id > closing.id AND later.was IS NULL AND later.relation IN ('holds', 'waitlist_entries', 'offers')

-- name: entry_and_offer_agree
-- An entry has an offer once it was promoted, of the same owner, and both end alike.
SELECT e.id, e.state, o.state FROM waitlist_entries AS e LEFT JOIN offers AS o ON o.entry_id = e.id
WHERE e.resource_id = :resource AND (
    (e.state IN ('WAITING', 'LEFT')) <> (o.id IS NULL)
    OR o.id IS NOT NULL AND (CASE e.state WHEN 'OFFERED' THEN 'ACTIVE' ELSE e.state END <> o.state
                             OR o.owner_digest <> e.owner_digest OR o.resource_id <> e.resource_id))

-- name: every_offer_is_announced_once
-- Each offer has its notice and each notice its offer.
SELECT o.id, n.delivery_id FROM (SELECT * FROM offers WHERE resource_id = :resource) AS o
FULL JOIN (SELECT * FROM notification_outbox WHERE (payload::json->>'resourceId')::bigint = :resource) AS n
    ON n.delivery_id = format('waitlist-%s-offered', o.entry_id) AND (n.payload::json->>'offerId')::bigint = o.id
WHERE o.id IS NULL OR n.id IS NULL

-- name: reservations_come_from_claims
-- A confirmed hold and an accepted offer have one reservation, of the same owner and seats; nothing else has one.
SELECT h.id, v.id FROM (SELECT * FROM holds WHERE resource_id = :resource AND state = 'CONFIRMED') AS h
FULL JOIN (SELECT * FROM reservations WHERE resource_id = :resource AND hold_id IS NOT NULL) AS v ON v.hold_id = h.id
WHERE h.id IS NULL OR v.id IS NULL OR v.owner_digest <> h.owner_digest OR v.quantity <> h.quantity
UNION ALL
SELECT o.id, v.id FROM (SELECT * FROM offers WHERE resource_id = :resource AND state = 'ACCEPTED') AS o
FULL JOIN (SELECT * FROM reservations WHERE resource_id = :resource AND offer_id IS NOT NULL) AS v ON v.offer_id = o.id
WHERE o.id IS NULL OR v.id IS NULL OR v.owner_digest <> o.owner_digest OR v.quantity <> 1

-- name: nothing_ends_on_the_wrong_side_of_its_deadline
-- A claim is used before its time is over and expires after it.
SELECT 'hold', id, state, ended_at, expires_at FROM holds WHERE resource_id = :resource AND ended_at IS NOT NULL
  AND (state = 'EXPIRED') <> (ended_at >= expires_at)
UNION ALL
SELECT 'offer', id, state, ended_at, expires_at FROM offers WHERE resource_id = :resource AND ended_at IS NOT NULL
  AND (state = 'EXPIRED') <> (ended_at >= expires_at)

-- name: old_policies_only_expire
-- A hold is confirmed or cancelled under the policy that it was taken under.
SELECT ended.became, ruling.version FROM witnessed AS ended, LATERAL (
    SELECT (became->>'policy_version')::bigint AS version FROM witnessed
    WHERE resource = ended.resource AND relation = 'resources' AND id < ended.id ORDER BY id DESC LIMIT 1
) AS ruling
WHERE ended.resource = :resource AND ended.relation = 'holds' AND ended.was->>'state' = 'ACTIVE'
  AND ended.became->>'state' IN ('CONFIRMED', 'CANCELLED') AND (ended.became->>'policy_version')::bigint <> ruling.version

-- name: limits_hold
-- Nobody got a hold or a place in the line that made it more than the limit that stood at the time.
WITH change AS (
    SELECT id, relation, owner, was, became,
           CASE WHEN became->>'state' IN ('ACTIVE', 'WAITING') OR relation = 'reservations' AND became->>'state' = 'CONFIRMED'
                THEN coalesce((became->>'quantity')::bigint, 1) ELSE 0 END
         - CASE WHEN was->>'state' IN ('ACTIVE', 'WAITING') OR relation = 'reservations' AND was->>'state' = 'CONFIRMED'
                THEN coalesce((was->>'quantity')::bigint, 1) ELSE 0 END AS seats,
           (SELECT (ruling.became->>'per_owner_limit')::bigint FROM witnessed AS ruling
            WHERE ruling.resource = :resource AND ruling.relation = 'resources' AND ruling.id < witnessed.id
            ORDER BY ruling.id DESC LIMIT 1) AS allowed
    FROM witnessed WHERE resource = :resource AND relation <> 'resources'
), counted AS (
    SELECT *, sum(seats) OVER (PARTITION BY owner ORDER BY id) AS had FROM change
)
SELECT relation, became, had, allowed FROM counted
WHERE was IS NULL AND relation IN ('holds', 'waitlist_entries') AND had > allowed

-- name: one_effect_per_key
-- A key made one hold or one place at most, and what it made is what its one answer tells of.
SELECT h.idempotency_key, h.id, a.status, a.body FROM (SELECT * FROM holds WHERE resource_id = :resource) AS h
FULL JOIN (
    SELECT r.key, a.* FROM idempotency_records AS r JOIN idempotency_answers AS a ON a.record_id = r.id
    WHERE r.operation = 'hold' AND r.tenant = (SELECT tenant FROM resources WHERE id = :resource) AND a.status = 201
) AS a ON a.key = h.idempotency_key AND (a.body::json->>'id')::bigint = h.id
WHERE h.id IS NULL OR a.record_id IS NULL
UNION ALL
SELECT e.idempotency_key, e.id, a.status, a.body FROM (SELECT * FROM waitlist_entries WHERE resource_id = :resource) AS e
FULL JOIN (
    SELECT r.key, a.* FROM idempotency_records AS r JOIN idempotency_answers AS a ON a.record_id = r.id
    WHERE r.operation = 'waitlist.join' AND r.tenant = (SELECT tenant FROM resources WHERE id = :resource) AND a.status = 201
) AS a ON a.key = e.idempotency_key AND (a.body::json->>'id')::bigint = e.id
WHERE e.id IS NULL OR a.record_id IS NULL

-- name: one_answer_per_ending
-- Everything that somebody ended was ended by one command, which was told so; what expired by none.
WITH told AS (
    SELECT r.operation, a.body::json AS body FROM idempotency_records AS r JOIN idempotency_answers AS a ON a.record_id = r.id
    WHERE a.status < 300 AND r.tenant = (SELECT tenant FROM resources WHERE id = :resource)
), ending AS (
    SELECT operation || ' ' || (CASE operation WHEN 'hold.confirm' THEN body->>'holdId'
                                               WHEN 'offer.accept' THEN body->>'offerId' ELSE body->>'id' END) AS what
    FROM told WHERE operation IN ('hold.confirm', 'hold.cancel', 'offer.accept', 'offer.decline', 'waitlist.leave',
                                  'reservation.cancel', 'resource.close')
), ended AS (
    SELECT CASE state WHEN 'CONFIRMED' THEN 'hold.confirm ' ELSE 'hold.cancel ' END || id AS what FROM holds
    WHERE resource_id = :resource AND state IN ('CONFIRMED', 'CANCELLED')
    UNION ALL
    SELECT CASE state WHEN 'ACCEPTED' THEN 'offer.accept ' ELSE 'offer.decline ' END || id FROM offers
    WHERE resource_id = :resource AND state IN ('ACCEPTED', 'DECLINED')
    UNION ALL
    SELECT 'waitlist.leave ' || id FROM waitlist_entries WHERE resource_id = :resource AND reason = 'LEFT'
    UNION ALL
    SELECT 'reservation.cancel ' || id FROM reservations WHERE resource_id = :resource AND state = 'CANCELLED'
    UNION ALL
    SELECT 'resource.close ' || id FROM resources WHERE id = :resource AND state = 'CLOSED'
)
SELECT what FROM ((TABLE ending EXCEPT ALL TABLE ended) UNION ALL (TABLE ended EXCEPT ALL TABLE ending)) AS unmatched

-- name: one_policy_version_per_change
-- The policy's version says how many changes were answered.
SELECT policy_version FROM resources AS r WHERE id = :resource AND policy_version - 1 <> (
    SELECT count(*) FROM idempotency_records AS i JOIN idempotency_answers AS a ON a.record_id = i.id
    WHERE i.tenant = r.tenant AND i.operation = 'resource.policy' AND a.status = 200)
