-- name: nothing_is_taken_away
-- sentence: What a buyer was told is hers stands until its time is over, or until its end was asked for.
-- needs: operations, trail, holds.state
-- rests on: trail_complete, history_complete, clocks_comparable
-- a pass rests on: states_known
-- catches: sweep-deletes-confirmed

-- looked at
SELECT count(*) FROM operations
WHERE outcome = 'ok' AND kind IN ('hold', 'confirm', 'accept_offer', 'join_waitlist') AND coalesce(created, key) IS NOT NULL;

-- counter-examples
-- A row that ended may be cleaned away whenever, and each service ends its rows in its own way: by a state or by removing them.
-- What lives is removed only for a reason. A place in the line whose turn has come is no more than the offer it was made.
WITH gone AS (
    SELECT source, row_key, before, before_lsn, commit_lsn, position, commit_us FROM steps
    WHERE NOT present AND before_lsn < commit_lsn AND CASE source
        WHEN 'holds' THEN before = 'ACTIVE' OR before = 'CONFIRMED' AND NOT (SELECT reservations FROM offered)
        WHEN 'offers' THEN before = 'ACTIVE' WHEN 'reservations' THEN before = 'CONFIRMED'
        WHEN 'waitlist_entries' THEN before = 'WAITING' ELSE false END
),
-- All else is asked of those few rows alone.
images AS (SELECT s.* FROM steps s SEMI JOIN gone g ON g.source = s.source AND g.row_key = s.row_key WHERE s.present),
deadlines AS (
    SELECT source, id, arg_min(expires_us, (commit_lsn, position)) AS expires_us FROM images WHERE expires_us IS NOT NULL GROUP BY source, id
),
-- Who writes a row anew in the same commit has moved it, to another partition say.
written AS (SELECT source, row_key, commit_lsn, max(position) AS position FROM images GROUP BY ALL),
origins AS (
    SELECT 'holds' AS source, id, owner, NULL AS origin, NULL AS other FROM commits.holds WHERE present AND id IN (SELECT id FROM images)
    UNION SELECT 'reservations', id, owner, hold, offer FROM commits.reservations WHERE present AND id IN (SELECT id FROM images)
    UNION SELECT 'offers', id, owner, entry, NULL FROM commits.offers WHERE present AND id IN (SELECT id FROM images)
    UNION SELECT 'waitlist_entries', id, owner, NULL, NULL FROM commits.waitlist_entries WHERE present AND id IN (SELECT id FROM images)
),
lost AS (
    SELECT DISTINCT g.source, i.id, i.resource, g.before, g.commit_lsn, o.owner, o.origin, o.other
    FROM gone g JOIN images i ON i.source = g.source AND i.row_key = g.row_key AND i.commit_lsn = g.before_lsn AND i.state = g.before
    LEFT JOIN written w ON w.source = g.source AND w.row_key = g.row_key AND w.commit_lsn = g.commit_lsn
    LEFT JOIN deadlines d ON d.source = i.source AND d.id = i.id
    LEFT JOIN origins o ON o.source = i.source AND o.id = i.id
    -- Where nobody knows the deadline, nobody knows that it was not over.
    WHERE coalesce(w.position < g.position, true) AND (g.before <> 'ACTIVE' OR g.commit_us < d.expires_us)
),
-- Where an answer names nothing, the key does, or what it was asked of.
told AS (
    SELECT l.source, l.id, min(o.op) AS op FROM lost l JOIN operations o ON o.created = l.id AND l.source = CASE o.kind
        WHEN 'hold' THEN 'holds' WHEN 'join_waitlist' THEN 'waitlist_entries' WHEN 'read' THEN 'offers'
        WHEN 'confirm' THEN 'reservations' WHEN 'accept_offer' THEN 'reservations' END
    WHERE o.outcome = 'ok' AND (l.source <> 'holds' OR l.before = 'ACTIVE') GROUP BY ALL
    UNION ALL
    SELECT l.source, l.id, min(o.op) FROM lost l JOIN made m ON m.made = 'holds' AND m.id = l.id
    JOIN operations o ON o.kind = 'hold' AND o.outcome = 'ok' AND o.created IS NULL AND o.key = m.image.key
    WHERE l.source = 'holds' AND l.before = 'ACTIVE' GROUP BY ALL
    UNION ALL
    SELECT l.source, l.id, min(o.op) FROM lost l
    JOIN operations o ON o.outcome = 'ok' AND o.kind = 'confirm' AND o.subject = CASE l.source WHEN 'holds' THEN l.id ELSE l.origin END
    WHERE l.before = 'CONFIRMED' GROUP BY ALL
    UNION ALL
    SELECT l.source, l.id, min(o.op) FROM lost l JOIN operations o ON o.outcome = 'ok' AND o.kind = 'accept_offer' AND o.subject = l.other
    WHERE l.source = 'reservations' GROUP BY ALL
),
named AS (SELECT *, unnest([id, resource, origin, other]) AS subject FROM lost),
-- Whoever was not told that it had failed may have brought it about, if it had been sent by then: so may who closes a
-- resource, and whoever asks something of it for which there is no word here.
asked_for AS (
    SELECT n.source, n.id, n.commit_lsn FROM named n
    JOIN (
        SELECT kind, subject, min(sent_ns) AS sent_ns FROM operations
        WHERE outcome <> 'fail' AND sent_ns IS NOT NULL AND subject IN (SELECT subject FROM named) GROUP BY ALL
    ) a ON a.subject = n.subject
    JOIN transactions t ON t.commit_lsn = n.commit_lsn
    WHERE coalesce(a.sent_ns <= t.commit_ns + (SELECT ns FROM clock_spread), true) AND CASE a.kind
        WHEN 'close' THEN a.subject = n.resource
        WHEN 'confirm' THEN n.source = 'holds' AND n.before = 'ACTIVE' AND a.subject = n.id
        WHEN 'cancel' THEN n.source = 'holds' AND a.subject = n.id OR n.source = 'reservations' AND a.subject = n.origin
        WHEN 'cancel_reservation' THEN n.before = 'CONFIRMED' AND a.subject IN (n.id, n.origin)
        WHEN 'leave_waitlist' THEN n.source = 'waitlist_entries' AND a.subject = n.id OR n.source = 'offers' AND a.subject = n.origin
        WHEN 'accept_offer' THEN n.source = 'offers' AND a.subject = n.id
        WHEN 'decline_offer' THEN n.source = 'offers' AND a.subject = n.id
        ELSE a.kind NOT IN ('hold', 'join_waitlist', 'read', 'warm', 'create_resource') END
),
claims_of AS (
    SELECT owner, resource, commit_lsn FROM commits.holds WHERE present
    UNION ALL SELECT owner, resource, commit_lsn FROM commits.offers WHERE present
    UNION ALL SELECT owner, resource, commit_lsn FROM commits.reservations WHERE present
),
-- A waiter may be taken out of the line for the seat that he is given, in the commit itself or soon after it; and who asks
-- for another seat may give up the one he has for it, in the commit itself.
exchanged AS (
    SELECT l.source, l.id, l.commit_lsn FROM lost l JOIN claims_of c ON c.owner = l.owner AND coalesce(c.resource = l.resource, true)
    WHERE c.commit_lsn = l.commit_lsn OR l.source = 'waitlist_entries' AND c.commit_lsn > l.commit_lsn
    UNION ALL
    SELECT l.source, l.id, l.commit_lsn FROM lost l JOIN commits.offers o ON o.entry = l.id WHERE l.source = 'waitlist_entries'
    UNION ALL
    SELECT l.source, l.id, l.commit_lsn FROM lost l JOIN claims_of c ON c.commit_lsn = l.commit_lsn AND coalesce(c.resource = l.resource, true)
    WHERE l.source = 'waitlist_entries'
)
SELECT l.commit_lsn, min(t.op) AS op, l.source AS kind, l.id, l.resource, CASE WHEN l.source = 'holds' THEN l.id END AS hold,
    'it was ' || l.before || ', and is gone without anybody having asked for that' AS but
FROM lost l JOIN told t ON t.source = l.source AND t.id = l.id
ANTI JOIN (FROM asked_for UNION FROM exchanged) e ON e.source = l.source AND e.id = l.id AND e.commit_lsn = l.commit_lsn
GROUP BY ALL;
