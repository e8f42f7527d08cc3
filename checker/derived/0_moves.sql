-- The legal moves of each state machine, restated here: a wrong table in the service must not excuse itself. A state that
-- is no move's source is terminal.
CREATE TABLE moves AS FROM (VALUES
    ('resources', 'OPEN', 'CLOSED'),
    ('holds', 'ACTIVE', 'CONFIRMED'), ('holds', 'ACTIVE', 'CANCELLED'), ('holds', 'ACTIVE', 'EXPIRED'),
    ('reservations', 'CONFIRMED', 'CANCELLED'),
    ('waitlist_entries', 'WAITING', 'OFFERED'), ('waitlist_entries', 'WAITING', 'LEFT'),
    ('waitlist_entries', 'OFFERED', 'ACCEPTED'), ('waitlist_entries', 'OFFERED', 'DECLINED'),
    ('waitlist_entries', 'OFFERED', 'EXPIRED'),
    ('offers', 'ACTIVE', 'ACCEPTED'), ('offers', 'ACTIVE', 'DECLINED'), ('offers', 'ACTIVE', 'EXPIRED'),
    ('outbox', 'PENDING', 'CLAIMED'), ('outbox', 'CLAIMED', 'DELIVERED'), ('outbox', 'CLAIMED', 'PENDING'),
    ('outbox', 'CLAIMED', 'EXHAUSTED')
) m(source, before, after);

-- The states in which a row may come to be that somebody was told is theirs: an end that is its beginning gave nobody anything.
-- Where a step is left out a row may come to be in a later one.
CREATE TABLE beginnings AS FROM (VALUES
    ('holds', 'ACTIVE'), ('holds', 'CONFIRMED'), ('reservations', 'CONFIRMED'),
    ('waitlist_entries', 'WAITING'), ('waitlist_entries', 'OFFERED'), ('waitlist_entries', 'ACCEPTED')
) b(source, state);

-- What each kind of operation does to the row that it names as its subject.
CREATE TABLE ends AS FROM (VALUES
    ('confirm', 'holds', 'CONFIRMED'), ('cancel', 'holds', 'CANCELLED'),
    ('accept_offer', 'offers', 'ACCEPTED'), ('decline_offer', 'offers', 'DECLINED'),
    ('leave_waitlist', 'waitlist_entries', 'LEFT'), ('cancel_reservation', 'reservations', 'CANCELLED')
) e(kind, source, state);

-- Every change of a row that has a state, with the state before it; of a row that is gone nothing is before.
CREATE TABLE steps AS
WITH images AS (
    SELECT 'resources' AS source, row_key, id, id AS resource, NULL AS expires_us, commit_lsn, position, commit_us, present, state, NULL AS reason
    FROM trail.resources
    UNION ALL BY NAME SELECT 'holds' AS source, row_key, id, resource, expires_us, commit_lsn, position, commit_us, present, state FROM trail.holds
    UNION ALL BY NAME SELECT 'reservations' AS source, row_key, id, resource, commit_lsn, position, commit_us, present, state FROM trail.reservations
    UNION ALL BY NAME SELECT 'waitlist_entries' AS source, row_key, id, resource, commit_lsn, position, commit_us, present, state, reason
    FROM trail.waitlist_entries
    UNION ALL BY NAME SELECT 'offers' AS source, row_key, id, resource, expires_us, commit_lsn, position, commit_us, present, state FROM trail.offers
    UNION ALL BY NAME SELECT 'outbox' AS source, row_key, delivery AS id, commit_lsn, position, commit_us, present, state FROM trail.outbox
)
SELECT *, lag(CASE WHEN present THEN state END) OVER row_of AS before, lag(commit_lsn) OVER row_of AS before_lsn,
    lag(commit_us) OVER row_of AS before_us
FROM images WHERE row_key IS NOT NULL
WINDOW row_of AS (PARTITION BY source, row_key ORDER BY commit_lsn, position);

-- When each row came to an end that an operation can bring about.
CREATE VIEW ended AS
SELECT e.kind, s.* FROM steps s JOIN ends e ON e.source = s.source AND e.state = s.state
WHERE s.present AND s.commit_lsn > 0 AND s.before IS DISTINCT FROM s.state AND coalesce(s.reason, '') <> 'CLOSED';

-- When each end of a row was first asked for, by one who was not told that it had failed.
CREATE VIEW asked AS
SELECT kind, subject AS id, min(sent_ns) AS sent_ns FROM operations
WHERE kind IN (SELECT kind FROM ends) AND outcome <> 'fail' AND sent_ns IS NOT NULL GROUP BY kind, subject;
