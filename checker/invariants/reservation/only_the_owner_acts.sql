-- name: only_the_owner_acts
-- sentence: A hold, an offer, a place in the line or a reservation is ended only by whom it belongs to, and changes hands only to its next owner.
-- needs: operations, trail, holds
-- rests on: trail_complete, history_complete
-- catches: wrong-acceptor, release-not-owner, scope-missing, spoofed-identity

-- looked at
SELECT count(*) FROM operations WHERE outcome <> 'info' AND kind IN (SELECT kind FROM ends);

-- counter-examples
-- The database knows owners by a digest, operations by name. What joins them is who was told of a row that came to be, or
-- who sent the key it bears; a row that two were told of belongs to nobody here.
WITH people AS (SELECT *, concat_ws('/', tenant, owner) AS who FROM operations WHERE owner IS NOT NULL),
told AS (
    SELECT CASE kind WHEN 'hold' THEN 'holds' ELSE 'waitlist_entries' END AS source, created AS id, who FROM people
    WHERE outcome = 'ok' AND created IS NOT NULL AND kind IN ('hold', 'join_waitlist')
    UNION ALL
    SELECT m.made, m.id, p.who FROM made m JOIN people p ON p.key = m.image.key AND p.outcome <> 'fail'
        AND coalesce(p.tenant = m.image.tenant, true) AND p.kind = CASE m.made WHEN 'holds' THEN 'hold' ELSE 'join_waitlist' END
    WHERE m.made IN ('holds', 'waitlist_entries') AND m.image.key IS NOT NULL
),
first_owners AS (SELECT source, id, min(who) AS who FROM told GROUP BY source, id HAVING count(DISTINCT who) = 1),
offers AS (SELECT DISTINCT id, entry, owner FROM commits.offers WHERE present),
reservations AS (SELECT DISTINCT id, hold, offer, owner FROM commits.reservations WHERE present),
owners AS (
    FROM first_owners
    UNION ALL SELECT 'offers', o.id, f.who FROM offers o JOIN first_owners f ON f.source = 'waitlist_entries' AND f.id = o.entry
    UNION ALL SELECT 'reservations', r.id, f.who FROM reservations r JOIN first_owners f ON f.source = 'holds' AND f.id = r.hold
    UNION ALL SELECT 'reservations', r.id, f.who FROM reservations r JOIN offers o ON o.id = r.offer
    JOIN first_owners f ON f.source = 'waitlist_entries' AND f.id = o.entry
),
acted AS (
    SELECT p.op, p.kind, p.subject AS id, p.key, p.outcome, p.who, o.who AS owner, e.source
    FROM people p JOIN ends e ON e.kind = p.kind JOIN owners o ON o.source = e.source AND o.id = p.subject
    WHERE p.outcome <> 'fail'
),
unknown AS (
    SELECT kind, source, id, min(op) AS op, min(who) AS who, any_value(owner) AS owner
    FROM acted GROUP BY kind, source, id HAVING bool_and(outcome = 'info' AND who <> owner)
),
digests AS (
    SELECT 'holds' AS source, id, owner FROM commits.holds WHERE present UNION SELECT 'offers', id, owner FROM offers
    UNION SELECT 'waitlist_entries', id, owner FROM commits.waitlist_entries WHERE present
),
handed AS (
    SELECT 'offers' AS kind, id, owner, 'waitlist_entries' AS origin, entry AS origin_id FROM offers
    UNION ALL SELECT 'reservations', id, owner, 'holds', hold FROM reservations
    UNION ALL SELECT 'reservations', id, owner, 'offers', offer FROM reservations
)
SELECT op, kind, id, key, who, owner, 'the owner is another' AS but FROM acted WHERE outcome = 'ok' AND who <> owner
UNION ALL
SELECT u.op, u.kind, u.id, NULL, u.who, u.owner, 'it happened, and only others had asked for it'
FROM unknown u JOIN ended s ON s.kind = u.kind AND s.id = u.id
UNION ALL
SELECT NULL, h.kind, h.id, NULL, h.owner, d.owner, 'it came from ' || h.origin || ' ' || h.origin_id || ' of another'
FROM handed h JOIN digests d ON d.source = h.origin AND d.id = h.origin_id WHERE h.owner <> d.owner
UNION ALL
-- Whoever asked for what becomes of a row named the row. Who closes a resource names none of the places in its line: without
-- a reason, an end of such a place proves nothing.
SELECT NULL, s.kind, s.id, NULL, NULL, NULL, 'it is ' || s.state || ' since commit ' || s.commit_lsn || ', and nobody had asked for that'
FROM ended s
WHERE (s.source <> 'waitlist_entries' OR s.reason IS NOT NULL)
    AND NOT EXISTS (FROM operations o WHERE o.kind = s.kind AND o.subject = s.id);
