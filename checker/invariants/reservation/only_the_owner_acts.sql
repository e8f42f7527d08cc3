-- name: only_the_owner_acts
-- sentence: A hold, an offer, a place in the line or a reservation is ended only by whom it belongs to, and changes hands only to its next owner.
-- needs: operations, trail, holds
-- rests on: trail_complete, history_complete
-- a pass rests on: clocks_comparable
-- catches: wrong-acceptor, release-not-owner, spoofed-identity

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
first_owners AS (SELECT source, id, min(who) AS who FROM told GROUP BY source, id HAVING min(who) = max(who)),
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
    SELECT p.op, p.kind, p.subject AS id, p.key, p.outcome, p.sent_ns, p.who, o.who AS owner
    FROM people p JOIN ends e ON e.kind = p.kind JOIN owners o ON o.source = e.source AND o.id = p.subject
    WHERE p.outcome <> 'fail'
),
-- What is asked for after an end has not brought it about; where the clocks do not tell, everything was asked for before.
latest AS (SELECT commit_lsn, coalesce(commit_ns + (SELECT ns FROM clock_spread), 9223372036854775807) AS sent_ns FROM transactions),
ends_in AS (SELECT s.*, l.sent_ns AS latest_ns FROM ended s JOIN latest l ON l.commit_lsn = s.commit_lsn),
unknown AS (
    SELECT a.kind, a.id, s.commit_lsn, min(a.op) AS op, min(a.who) AS who, any_value(a.owner) AS owner
    FROM acted a JOIN ends_in s ON s.kind = a.kind AND s.id = a.id AND a.sent_ns <= s.latest_ns
    GROUP BY a.kind, a.id, s.commit_lsn HAVING bool_and(a.outcome = 'info' AND a.who <> a.owner)
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
SELECT op, kind, id, key, who, owner, 'the owner is another' AS but, NULL AS commit_lsn FROM acted WHERE outcome = 'ok' AND who <> owner
UNION ALL
SELECT u.op, u.kind, u.id, NULL, u.who, u.owner, 'it happened, and only others had asked for it', u.commit_lsn
FROM unknown u
UNION ALL
SELECT NULL, h.kind, h.id, NULL, h.owner, d.owner, 'it came from ' || h.origin || ' ' || h.origin_id || ' of another',
    (SELECT min(s.commit_lsn) FROM steps s WHERE s.source = h.kind AND s.id = h.id AND s.present)
FROM handed h JOIN digests d ON d.source = h.origin AND d.id = h.origin_id WHERE h.owner <> d.owner
UNION ALL
-- Whoever asked for what becomes of a row named the row. Who closes a resource names none of the places in its line: without
-- a reason, an end of such a place proves nothing.
SELECT NULL, s.kind, s.id, NULL, NULL, NULL,
    'it is ' || s.state || ' since commit ' || s.commit_lsn || ', and nobody who was not refused had asked for that', s.commit_lsn
FROM ends_in s LEFT JOIN asked a ON a.kind = s.kind AND a.id = s.id
WHERE (s.source <> 'waitlist_entries' OR s.reason IS NOT NULL) AND (a.id IS NULL OR a.sent_ns > s.latest_ns);
