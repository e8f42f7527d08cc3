-- name: acknowledged_is_persisted
-- sentence: What a buyer was told had happened stands in the database, as it was asked for and for nobody else.
-- needs: operations, trail, holds
-- rests on: trail_complete, history_complete
-- a pass rests on: clocks_comparable
-- catches: commit-unknown, dirty-connection, synchronous-commit-off, payload-ignored

-- looked at
SELECT count(*) FROM operations o
WHERE o.outcome = 'ok' AND (o.kind = 'hold' AND coalesce(o.created, o.key) IS NOT NULL OR o.kind IN ('confirm', 'cancel')
    OR o.created IS NOT NULL AND (
        o.kind = 'accept_offer' AND (SELECT reservations FROM offered)
        OR o.kind = 'join_waitlist' AND (SELECT waitlist_entries FROM offered)
    ));

-- counter-examples
WITH made_holds AS (SELECT id, image.resource AS resource, image.quantity AS quantity, image.key AS key FROM made WHERE made = 'holds'),
-- Where an answer names nothing, its key does.
by_key AS (
    SELECT key, arg_min(resource, id) AS resource, arg_min(quantity, id) AS quantity FROM made_holds
    WHERE key IN (SELECT key FROM operations WHERE kind = 'hold' AND outcome = 'ok' AND created IS NULL) GROUP BY key
),
-- One row that two buyers were told is theirs looks right in every count: rows alone cannot show it.
often AS (
    SELECT created FROM operations WHERE kind = 'hold' AND outcome = 'ok' AND owner IS NOT NULL AND created IS NOT NULL
    GROUP BY created HAVING count(*) > 1
),
given AS (
    SELECT created AS id, count(DISTINCT (tenant, owner)) AS buyers FROM operations
    WHERE kind = 'hold' AND outcome = 'ok' AND owner IS NOT NULL AND created IN (FROM often) GROUP BY created
),
told AS (
    SELECT o.op, o.kind, o.key, o.tenant, o.owner, o.created, o.subject AS asked_resource, coalesce(o.quantity, 1) AS asked_quantity,
        coalesce(h.resource, k.resource) AS resource, coalesce(h.quantity, k.quantity, 1) AS quantity,
        coalesce(h.id, k.key) IS NOT NULL AS stands, h.key AS bears
    FROM operations o
    LEFT JOIN made_holds h ON h.id = o.created
    LEFT JOIN by_key k ON k.key = o.key AND o.created IS NULL
    WHERE o.kind = 'hold' AND o.outcome = 'ok' AND coalesce(o.created, o.key) IS NOT NULL
),
-- Few of them need a second look. A row that bears an empty key was made without one.
suspect AS (
    SELECT *, owner IS NOT NULL AND bears <> coalesce(key, '') AS under_another_key FROM told
    WHERE NOT stands OR resource <> asked_resource OR quantity <> asked_quantity OR created IN (FROM often) OR under_another_key
),
-- A buyer may have sent the key that the row bears some other time.
strangers AS (
    SELECT t.op FROM suspect t ANTI JOIN (
        SELECT key, tenant, owner FROM operations WHERE kind = 'hold' AND key IN (SELECT bears FROM suspect)
    ) s ON s.key = t.bears AND s.owner = t.owner AND s.tenant IS NOT DISTINCT FROM t.tenant
    WHERE t.under_another_key
),
wrong AS (
    SELECT t.*, coalesce(g.buyers, 1) AS buyers, t.op IN (FROM strangers) AS of_another
    FROM suspect t LEFT JOIN given g ON g.id = t.created
),
-- A hold that is live may be cleaned away once it is over, or by one of those who had sent its end and were not refused;
-- never by itself. Where the clocks do not tell, they had sent it before.
vanished AS (
    SELECT s.id, min(s.commit_lsn) AS commit_lsn FROM (
        SELECT row_key, commit_lsn, commit_us, present, lag(id) OVER row_of AS id, lag(present) OVER row_of AS was,
            lag(state) OVER row_of AS before, lag(expires_us) OVER row_of AS expires_us
        FROM trail.holds WHERE row_key IN (SELECT row_key FROM trail.holds WHERE NOT present)
        WINDOW row_of AS (PARTITION BY row_key ORDER BY commit_lsn, position)
    ) s
    JOIN transactions t ON t.commit_lsn = s.commit_lsn
    LEFT JOIN (SELECT id, min(sent_ns) AS sent_ns FROM asked WHERE kind IN ('confirm', 'cancel') GROUP BY id) a ON a.id = s.id
    WHERE NOT s.present AND s.was AND s.before = 'ACTIVE' AND s.commit_us < s.expires_us
        AND (a.id IS NULL OR a.sent_ns > t.commit_ns + (SELECT ns FROM clock_spread))
    GROUP BY s.id
),
-- What else an answer names. A hold that is CONFIRMED without the reservation no longer holds the seat that was sold.
named AS (
    SELECT op, kind, key, created, CASE WHEN kind = 'join_waitlist' THEN 'waitlist_entries' ELSE 'reservations' END AS made
    FROM operations CROSS JOIN offered
    WHERE outcome = 'ok' AND created IS NOT NULL AND (
        kind IN ('confirm', 'accept_offer') AND reservations OR kind = 'join_waitlist' AND waitlist_entries
    )
),
ended AS (
    SELECT id, bool_or(state = 'CONFIRMED') AS confirmed, bool_or(state <> 'ACTIVE') AS ended FROM (
        SELECT id, state FROM commits.holds WHERE present UNION ALL SELECT id, state FROM state.holds
    ) GROUP BY id
)
SELECT op, kind, created AS hold, key, CASE
        WHEN NOT stands THEN 'there is no such hold'
        WHEN resource <> asked_resource THEN 'it is of another resource: ' || resource
        WHEN buyers > 1 THEN buyers || ' buyers were told that it is theirs'
        WHEN of_another THEN 'it was made under a key that this buyer never sent'
        ELSE 'its quantity is ' || quantity || ', asked for were ' || asked_quantity
    END AS but
FROM wrong
WHERE NOT stands OR resource <> asked_resource OR quantity <> asked_quantity OR buyers > 1 OR of_another
UNION ALL
SELECT o.op, o.kind, o.created, o.key, 'it was taken away before it was over, and nobody had asked for that'
FROM operations o JOIN vanished v ON v.id = o.created
WHERE o.kind = 'hold' AND o.outcome = 'ok'
UNION ALL
SELECT o.op, o.kind, o.subject, o.key, CASE
        WHEN e.id IS NULL THEN 'there is no such hold'
        WHEN o.kind = 'confirm' THEN 'it was never CONFIRMED'
        ELSE 'it never ended'
    END
FROM operations o LEFT JOIN ended e ON e.id = o.subject
WHERE o.outcome = 'ok'
    AND (o.kind = 'confirm' AND NOT coalesce(e.confirmed, false) OR o.kind = 'cancel' AND NOT coalesce(e.ended, false))
UNION ALL
SELECT n.op, n.kind, NULL, n.key, 'there is no ' || n.created || ' among the ' || n.made
FROM named n LEFT JOIN made m ON m.made = n.made AND m.id = n.created
WHERE m.id IS NULL;
