-- name: terminal_rows_never_change
-- sentence: A hold, reservation, waitlist entry, offer, delivery or stored answer that has come to its end is never changed again.
-- needs: trail, holds.state
-- rests on: trail_complete
-- a pass rests on: states_known
-- catches: sweep-hits-confirmed, upsert-clobbers, stale-offer-usable, release-race

-- looked at
SELECT count(*) FROM steps s
WHERE s.present AND s.source <> 'resources' AND s.state NOT IN (SELECT before FROM moves m WHERE m.source = s.source);

-- counter-examples
-- A row that is cleaned away is not changed, and one that is made anew under its key is another.
WITH over AS (
    -- Few rows are written again after their end, and the others cannot have changed.
    SELECT kind, row_key FROM (
        SELECT source AS kind, row_key, commit_lsn, NOT EXISTS (FROM moves m WHERE m.source = s.source AND m.before = s.state) AS ended
        FROM steps s WHERE present
    ) GROUP BY kind, row_key HAVING max(commit_lsn) > min(commit_lsn) FILTER (ended)
    UNION
    SELECT 'idempotency_answers', row_key FROM commits.idempotency_answers GROUP BY row_key HAVING count(*) > 1
),
images AS (
    SELECT 'holds' AS kind, row_key, id, resource, state, present, commit_lsn, CAST(row(
        id, tenant, resource, owner, quantity, state, key, revision, policy_version, created_us, expires_us, ended_us, term) AS VARCHAR) AS image
    FROM commits.holds
    UNION ALL
    SELECT 'reservations', row_key, id, resource, state, present, commit_lsn, CAST(row(
        id, tenant, resource, owner, quantity, state, hold, offer, revision, created_us, ended_us) AS VARCHAR)
    FROM commits.reservations
    UNION ALL
    SELECT 'waitlist_entries', row_key, id, resource, state, present, commit_lsn, CAST(row(
        id, tenant, resource, owner, seq, state, reason, key, revision, created_us, ended_us) AS VARCHAR)
    FROM commits.waitlist_entries
    UNION ALL
    SELECT 'offers', row_key, id, resource, state, present, commit_lsn, CAST(row(
        id, tenant, resource, owner, entry, quantity, state, revision, created_us, expires_us, ended_us, term) AS VARCHAR)
    FROM commits.offers
    UNION ALL
    SELECT 'outbox', row_key, delivery, NULL, state, present, commit_lsn, CAST(row(
        delivery, tenant, kind, entry, state, attempts, claim, claimed_until_us, next_us, created_us, ended_us) AS VARCHAR)
    FROM commits.outbox
    UNION ALL
    SELECT 'idempotency_answers', row_key, record, NULL, 'STORED', present, commit_lsn, CAST(row(record, status) AS VARCHAR)
    FROM commits.idempotency_answers
),
changed AS (
    SELECT *, lag(CASE WHEN present THEN state END) OVER row_of AS before, lag(image) OVER row_of AS image_before
    FROM images SEMI JOIN over USING (kind, row_key) WINDOW row_of AS (PARTITION BY kind, row_key ORDER BY commit_lsn)
)
SELECT c.commit_lsn, c.resource, c.kind, c.id, CASE WHEN c.kind = 'holds' THEN c.id END AS hold, c.image_before AS was, c.image AS "is"
FROM changed c
WHERE c.present AND c.before IS NOT NULL AND c.image <> c.image_before
    AND NOT EXISTS (FROM moves m WHERE m.source = c.kind AND m.before = c.before);
