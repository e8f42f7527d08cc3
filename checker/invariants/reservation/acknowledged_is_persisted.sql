-- name: acknowledged_is_persisted
-- sentence: What a buyer was told had happened stands in the database, as it was asked for and for nobody else.
-- needs: operations, trail, holds
-- rests on: trail_complete, history_complete
-- catches: commit-unknown, dirty-connection, synchronous-commit-off, payload-ignored

-- looked at
SELECT count(*) FROM operations o, offered
WHERE o.outcome = 'ok' AND CASE o.kind
    WHEN 'hold' THEN coalesce(o.created, o.key) IS NOT NULL
    WHEN 'join_waitlist' THEN o.created IS NOT NULL AND waitlist_entries
    WHEN 'accept_offer' THEN offers OR o.created IS NOT NULL AND reservations
    WHEN 'decline_offer' THEN offers
    WHEN 'leave_waitlist' THEN waitlist_entries
    WHEN 'cancel_reservation' THEN reservations
    WHEN 'close' THEN resources
    ELSE o.kind IN ('confirm', 'cancel') END;

-- counter-examples
WITH made_holds AS (SELECT id, image.resource AS resource, image.quantity AS quantity, image.key AS key FROM made WHERE made = 'holds'),
-- Where an answer names nothing, its key does.
by_key AS (
    SELECT key, arg_min(resource, id) AS resource, arg_min(quantity, id) AS quantity FROM made_holds
    WHERE key IN (SELECT key FROM operations WHERE kind = 'hold' AND outcome = 'ok' AND created IS NULL) GROUP BY key
),
-- What the answer to each kind of operation names.
kinds AS (
    FROM (VALUES ('hold', 'holds'), ('join_waitlist', 'waitlist_entries'), ('confirm', 'reservations'), ('accept_offer', 'reservations')) k(kind, made)
),
-- One row that two buyers were told is theirs looks right in every count: rows alone cannot show it. Several may ask for what
-- becomes of one hold; what came of two is not the same.
often AS (
    SELECT k.made, o.created FROM operations o JOIN kinds k ON k.kind = o.kind
    WHERE o.outcome = 'ok' AND o.owner IS NOT NULL AND o.created IS NOT NULL GROUP BY k.made, o.created HAVING count(*) > 1
),
given AS (
    SELECT k.made, o.created AS id, CASE WHEN k.made = 'reservations' AND count(DISTINCT o.subject) = 1 THEN 1
        ELSE count(DISTINCT (o.tenant, o.owner)) END AS buyers
    FROM operations o JOIN kinds k ON k.kind = o.kind JOIN often w ON w.made = k.made AND w.created = o.created
    WHERE o.outcome = 'ok' AND o.owner IS NOT NULL GROUP BY k.made, o.created
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
    WHERE NOT stands OR resource <> asked_resource OR quantity <> asked_quantity OR under_another_key
        OR created IN (SELECT created FROM often WHERE made = 'holds')
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
    FROM suspect t LEFT JOIN given g ON g.made = 'holds' AND g.id = t.created
),
-- What else an answer names. A hold that is CONFIRMED without the reservation no longer holds the seat that was sold.
named AS (
    SELECT o.op, o.kind, o.key, o.subject, o.created, k.made FROM operations o JOIN kinds k ON k.kind = o.kind CROSS JOIN offered
    WHERE o.outcome = 'ok' AND o.created IS NOT NULL
        AND CASE k.made WHEN 'reservations' THEN reservations WHEN 'waitlist_entries' THEN waitlist_entries ELSE false END
),
-- It is of the resource, and of as many seats, as what it came of: a hold may come to be several reservations.
origins AS (
    SELECT 'confirm' AS kind, id, resource, quantity FROM made_holds WHERE id IN (SELECT subject FROM named WHERE kind = 'confirm')
    UNION ALL SELECT 'accept_offer', id, any_value(resource), NULL FROM commits.offers WHERE present GROUP BY id
),
found AS (
    SELECT n.*, m.id IS NOT NULL AS stands, m.image.resource AS resource, m.image.quantity AS quantity, f.quantity AS of_quantity,
        CASE n.kind WHEN 'join_waitlist' THEN n.subject ELSE f.resource END AS of_resource
    FROM named n LEFT JOIN made m ON m.made = n.made AND m.id = n.created LEFT JOIN origins f ON f.kind = n.kind AND f.id = n.subject
),
shares AS (
    SELECT hold, sum(quantity) AS quantity FROM (
        SELECT r.id, any_value(r.hold) AS hold, arg_min(r.quantity, r.commit_lsn) AS quantity FROM commits.reservations r
        WHERE r.present AND r.hold IN (SELECT subject FROM found WHERE quantity < of_quantity) GROUP BY r.id
    ) GROUP BY hold
),
-- Whoever is given what was over as soon as it was made was given nothing.
over AS (
    SELECT s.source, s.id, s.state FROM steps s JOIN made m ON m.made = s.source AND m.id = s.id AND m.commit_lsn = s.commit_lsn
    WHERE s.present AND s.commit_lsn > 0 AND s.before IS NULL AND EXISTS (FROM moves v WHERE v.source = s.source AND v.after = s.state)
        AND NOT EXISTS (FROM beginnings b WHERE b.source = s.source AND b.state = s.state)
),
-- An end has come when the row says so, or is no more. Whoever takes something needs that very end; who gives it back may
-- find that it had come to another.
endings AS (FROM ends UNION ALL VALUES ('close', 'resources', 'CLOSED')),
ending AS (
    SELECT o.op, o.kind, o.key, o.subject, e.source, e.state FROM operations o JOIN endings e ON e.kind = o.kind
    WHERE o.outcome = 'ok' AND o.subject IS NOT NULL
),
unmet AS (
    FROM ending e ANTI JOIN (
        SELECT e.kind, s.id FROM steps s ANTI JOIN moves m ON m.source = s.source AND m.before = s.state
        JOIN endings e ON e.source = s.source
        WHERE s.present AND e.kind IN (SELECT kind FROM ending) AND (e.kind NOT IN ('confirm', 'accept_offer') OR s.state = e.state)
    ) c ON c.kind = e.kind AND c.id = e.subject
),
seen AS (
    SELECT s.source, s.row_key, s.id, count(s.state) > 0 AS has_states
    FROM steps s SEMI JOIN unmet u ON u.source = s.source AND u.subject = s.id
    WHERE s.present GROUP BY ALL
),
removed AS (
    SELECT DISTINCT e.source, e.id FROM seen e JOIN steps s ON s.source = e.source AND s.row_key = e.row_key WHERE NOT s.present
),
by_id AS (SELECT DISTINCT source FROM steps WHERE id IS NOT NULL AND source IN (SELECT source FROM unmet))
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
SELECT u.op, u.kind, CASE WHEN u.source = 'holds' THEN u.subject END, u.key, CASE
        WHEN s.id IS NULL THEN 'there is no ' || u.subject || ' among the ' || u.source
        WHEN u.kind IN ('confirm', 'accept_offer') THEN u.subject || ' of the ' || u.source || ' was never ' || u.state
        ELSE u.subject || ' of the ' || u.source || ' never ended'
    END
FROM unmet u
LEFT JOIN (SELECT source, id, bool_or(has_states) AS has_states FROM seen GROUP BY ALL) s ON s.source = u.source AND s.id = u.subject
ANTI JOIN removed r ON r.source = u.source AND r.id = u.subject
WHERE coalesce(s.has_states, u.source IN (FROM by_id))
UNION ALL
SELECT f.op, f.kind, NULL, f.key, CASE
        WHEN NOT f.stands THEN 'there is no ' || f.created || ' among the ' || f.made
        WHEN f.resource <> f.of_resource THEN f.created || ' of the ' || f.made || ' is of another resource: ' || f.resource
        WHEN g.buyers > 1 THEN g.buyers || ' buyers were told that ' || f.created || ' of the ' || f.made || ' is theirs'
        ELSE 'its quantity is ' || f.quantity || ', held were ' || f.of_quantity
    END
FROM found f LEFT JOIN given g ON g.made = f.made AND g.id = f.created LEFT JOIN shares s ON s.hold = f.subject
WHERE NOT f.stands AND f.made NOT IN (SELECT made FROM made WHERE id IS NULL) OR f.resource <> f.of_resource OR g.buyers > 1
    OR f.quantity > f.of_quantity OR f.quantity < f.of_quantity AND s.quantity <> f.of_quantity
UNION ALL
SELECT o.op, o.kind, CASE WHEN v.source = 'holds' THEN v.id END, o.key,
    v.id || ' of the ' || v.source || ' was ' || v.state || ' as soon as it was made'
FROM over v JOIN kinds k ON k.made = v.source JOIN operations o ON o.kind = k.kind AND o.created = v.id AND o.outcome = 'ok';
