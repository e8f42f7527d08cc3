-- name: fifo_handover
-- sentence: A seat is offered to whoever has waited longest.
-- needs: operations, trail, waitlist_entries.resource, waitlist_entries.state
-- rests on: trail_complete, states_known
-- catches: coarse-order, double-offer, skip-locked-head

-- looked at
SELECT count(*) FROM waits WHERE became = 'OFFERED' AND left_lsn > 0;

-- counter-examples
-- Whoever is ahead, by the service's own numbers or because joining was answered before the other asked to join, must not
-- wait any longer than the other. Joins that overlapped may stand in either order.
WITH by_number AS (
    SELECT *, max(left_lsn) OVER ahead AS ahead_left_lsn, arg_max(id, left_lsn) OVER ahead AS ahead_id,
        arg_max(joined_lsn, left_lsn) OVER ahead AS ahead_joined_lsn
    FROM waits WHERE seq IS NOT NULL
    WINDOW ahead AS (PARTITION BY resource ORDER BY seq ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
),
joined AS (
    SELECT w.id, w.resource, w.left_lsn, w.became, min(a.first_sent_ns) AS sent_ns, min(a.done_ns) AS done_ns
    FROM waits w JOIN attempts a ON a.created = w.id AND a.kind = 'join_waitlist' AND a.outcome = 'ok'
    GROUP BY ALL
),
answered AS (
    SELECT resource, done_ns, max(left_lsn) OVER so_far AS left_lsn, arg_max(id, left_lsn) OVER so_far AS id
    FROM joined WINDOW so_far AS (PARTITION BY resource ORDER BY done_ns)
),
-- One place in the line is worth one seat: whoever has been offered one waits no longer.
offered_to AS (
    SELECT entry, resource, commit_lsn, row_number() OVER (PARTITION BY entry ORDER BY commit_lsn, id) AS turn
    FROM (
        SELECT entry, id, any_value(resource) AS resource, min(commit_lsn) AS commit_lsn
        FROM commits.offers WHERE present AND entry IS NOT NULL GROUP BY entry, id
    )
)
SELECT n.left_lsn AS commit_lsn, n.resource, n.id AS offered_to, n.ahead_id AS passed_over, 'its number is lower' AS because
FROM by_number n JOIN transactions t ON t.commit_lsn = n.left_lsn
-- Who joined while the seat was changing hands may not have been seen.
WHERE n.became = 'OFFERED' AND n.ahead_left_lsn > n.left_lsn AND n.ahead_joined_lsn < t.first_lsn
UNION ALL
SELECT j.left_lsn, j.resource, j.id, a.id, 'it had joined before the other asked'
FROM joined j ASOF JOIN answered a ON a.resource = j.resource AND a.done_ns < j.sent_ns
WHERE j.became = 'OFFERED' AND a.left_lsn > j.left_lsn
UNION ALL
SELECT commit_lsn, resource, entry, NULL, 'it had been offered a seat already'
FROM offered_to WHERE turn > 1 AND commit_lsn > 0;
