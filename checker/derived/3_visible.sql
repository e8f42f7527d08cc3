-- From when each transaction was certainly visible: its acknowledgement, or a snapshot that shows it.
-- A server that restarted may give an xid out again, so only snapshots since its last restart say anything.
CREATE TABLE numbered_snapshots AS
WITH counted AS (
    SELECT *, row_number() OVER (ORDER BY answered_ns, asked_ns, xmax) AS nr FROM snapshots
),
restarts AS (
    SELECT nr, xmax < lag(xmax) OVER (ORDER BY nr) AS restarted FROM counted
)
SELECT nr, asked_ns, answered_ns, CAST(xmax AS BIGINT) AS xmax, xip FROM counted
WHERE nr >= coalesce((SELECT max(nr) FROM restarts WHERE restarted), 1);

-- The trail's xids have 32 bits and wrap around; a snapshot's have 64. No two alive at once are 2^31 apart.
CREATE TABLE wide_xids AS
SELECT
    t.commit_lsn,
    t.commit_ns,
    s.xmax + (CAST(t.xid AS BIGINT) - s.xmax % 4294967296 + 6442450944) % 4294967296 - 2147483648 AS xid
FROM transactions t, (SELECT xmax FROM numbered_snapshots ORDER BY nr LIMIT 1) s;

CREATE TABLE shown AS
WITH by_xmax AS (SELECT xmax, min(nr) AS nr FROM numbered_snapshots GROUP BY xmax),
by_time AS (SELECT answered_ns, min(nr) AS nr FROM numbered_snapshots GROUP BY answered_ns),
running AS (
    SELECT xid, max(nr) AS nr FROM (SELECT nr, CAST(unnest(xip) AS BIGINT) AS xid FROM numbered_snapshots) GROUP BY xid
),
first_shown AS (
    SELECT w.commit_lsn, greatest(x.nr, t.nr, coalesce(r.nr + 1, x.nr)) AS nr
    FROM wide_xids w
    ASOF JOIN by_xmax x ON w.xid < x.xmax
    -- No snapshot from before the commit record was written can show it.
    ASOF JOIN by_time t ON w.commit_ns <= t.answered_ns
    LEFT JOIN running r ON r.xid = w.xid
)
SELECT f.commit_lsn, s.answered_ns AS shown_ns FROM first_shown f JOIN numbered_snapshots s ON s.nr = f.nr;

-- An acknowledgement read before the commit record was written cannot be this transaction's own.
CREATE TABLE acknowledged AS
SELECT c.commit_lsn, min(o.done_ns) AS done_ns
FROM operation_commits c JOIN operations o ON o.op = c.op JOIN transactions t ON t.commit_lsn = c.commit_lsn
WHERE o.outcome = 'ok' AND o.done_ns >= t.commit_ns GROUP BY c.commit_lsn;

CREATE TABLE visible AS
SELECT t.commit_lsn, t.commit_ns, least(a.done_ns, s.shown_ns) AS visible_ns
FROM transactions t
LEFT JOIN acknowledged a ON a.commit_lsn = t.commit_lsn
LEFT JOIN shown s ON s.commit_lsn = t.commit_lsn;
