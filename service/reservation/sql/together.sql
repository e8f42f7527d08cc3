-- name: take_together
-- Decides plain holds that waited for one resource, in the order of their arrival, as `take` would one after another: each
-- with its own key, count, revision, row and stored answer, all in one commit. Its keys are distinct.
-- Keys are inserted in one order everywhere, and all of them before the resource is locked (counting them sees to that: an
-- EXISTS would insert one, lock, and insert the others then); else twins in two such statements wait for each other.
-- Each is decided on what those before it left, which is why their turns are walked: whoever is refused takes nothing.
WITH RECURSIVE asked AS MATERIALIZED (
    SELECT *
    FROM unnest(:keys::text[], :fingerprints::text[], :owners::text[], :quantities::bigint[], :expected::bigint[])
         WITH ORDINALITY AS asked (key, fingerprint, owner_digest, quantity, expected, place)
), fresh AS (
    INSERT INTO idempotency_records (tenant, operation, key, fingerprint, owner_token, lease_expires_at)
    SELECT :tenant, :operation, asked.key, asked.fingerprint, '', clock_timestamp()
    FROM resources AS r, asked
    WHERE r.id = :resource AND r.tenant = :tenant AND r.per_owner_limit IS NULL
    ORDER BY asked.key
    ON CONFLICT (tenant, operation, key) DO NOTHING
    RETURNING id, key
), locked AS MATERIALIZED (
    SELECT r.id, r.state, r.capacity, r.occupied_count, r.revision, r.policy_version, r.hold_ttl, r.per_owner_limit
    FROM resources AS r
    WHERE r.id = :resource AND r.tenant = :tenant AND (SELECT count(*) FROM fresh) > 0
    FOR NO KEY UPDATE OF r
), room AS MATERIALIZED (
    SELECT locked.*, coalesce(:at::timestamptz, clock_timestamp()) AS at FROM locked
), turns AS MATERIALIZED (
    SELECT row_number() OVER (ORDER BY asked.place) AS turn, fresh.id AS record_id, asked.*
    FROM asked JOIN fresh USING (key)
), walked AS (
    SELECT 0::bigint AS turn, room.occupied_count, room.revision, NULL::text AS refusal FROM room
    UNION ALL
    SELECT turns.turn,
           walked.occupied_count + CASE WHEN judged.refusal IS NULL THEN turns.quantity ELSE 0 END,
           walked.revision + CASE WHEN judged.refusal IS NULL THEN 1 ELSE 0 END,
           judged.refusal
    FROM walked JOIN turns ON turns.turn = walked.turn + 1 CROSS JOIN room CROSS JOIN LATERAL (
        SELECT CASE WHEN room.per_owner_limit IS NOT NULL THEN 'COUNTED_ELSEWHERE'
                    WHEN room.state <> 'OPEN' THEN 'RESOURCE_CLOSED'
                    WHEN walked.occupied_count + turns.quantity > room.capacity THEN 'CAPACITY_EXHAUSTED'
                    WHEN walked.revision <> turns.expected THEN 'RESOURCE_REVISION_CONFLICT'
               END AS refusal
    ) AS judged
), decided AS MATERIALIZED (
    SELECT turns.*, walked.revision, walked.refusal FROM walked JOIN turns USING (turn)
), taken AS MATERIALIZED (
    SELECT count(*) AS holds, sum(quantity)::bigint AS seats FROM decided WHERE refusal IS NULL
), occupied AS (
    UPDATE resources AS r SET occupied_count = r.occupied_count + taken.seats, revision = r.revision + taken.holds
    FROM room, taken WHERE r.id = room.id AND taken.holds > 0
    RETURNING r.id
), held AS (
    INSERT INTO holds (tenant, resource_id, owner_digest, idempotency_key, quantity, policy_version, created_at,
                       expires_at)
    SELECT :tenant, room.id, d.owner_digest, d.key, d.quantity, room.policy_version, room.at, room.at + room.hold_ttl
    FROM decided AS d CROSS JOIN room JOIN occupied USING (id)
    WHERE d.refusal IS NULL
    ORDER BY d.turn
    RETURNING *
), answer AS (
    SELECT d.record_id, 201 AS status, (
        SELECT row_to_json(body)::text FROM (
            SELECT h.id, h.resource_id AS "resourceId", h.quantity, h.state, h.revision,
                   h.policy_version AS "policyVersion",
                   to_char(h.created_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "createdAt",
                   to_char(h.expires_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS "expiresAt",
                   d.revision AS "resourceRevision"
        ) AS body
    ) AS body
    FROM held AS h JOIN decided AS d ON d.key = h.idempotency_key
    UNION ALL
    SELECT d.record_id, told.status, told.body
    FROM decided AS d
    JOIN unnest(:codes::text[], :statuses::int[], :bodies::text[]) AS told (code, status, body) ON told.code = d.refusal
), stored AS (
    INSERT INTO idempotency_answers (record_id, status, body)
    SELECT answer.record_id, answer.status, answer.body FROM answer
    RETURNING record_id, status, body
)
SELECT d.place, stored.status, stored.body FROM stored JOIN decided AS d USING (record_id)
