-- name: outbox_matches_events
-- sentence: Every offer is announced once, in the commit that made it, and nothing else is.
-- needs: trail, offers.entry, outbox.entry
-- rests on: trail_complete
-- catches: publish-outside-commit, double-offer

-- looked at
SELECT count(*) FROM steps WHERE source = 'offers' AND commit_lsn > 0 AND before_lsn IS NULL;

-- counter-examples
WITH events AS (
    SELECT entry, id, any_value(resource) AS resource, min(commit_lsn) AS commit_lsn FROM commits.offers WHERE present GROUP BY entry, id
),
notices AS (
    SELECT entry, delivery, min(commit_lsn) AS commit_lsn FROM commits.outbox WHERE present AND entry IS NOT NULL GROUP BY entry, delivery
)
SELECT coalesce(e.commit_lsn, n.commit_lsn) AS commit_lsn, e.resource, coalesce(e.entry, n.entry) AS entry, e.id AS offer, n.delivery,
    CASE WHEN n.delivery IS NULL THEN 'the offer was never announced' WHEN e.id IS NULL THEN 'there is no such offer'
        ELSE 'offer and announcement were committed apart' END AS but
FROM events e FULL JOIN notices n ON n.entry = e.entry
WHERE e.commit_lsn IS DISTINCT FROM n.commit_lsn AND greatest(coalesce(e.commit_lsn, 0), coalesce(n.commit_lsn, 0)) > 0
UNION ALL
SELECT max(commit_lsn), NULL, entry, NULL, string_agg(delivery, ', ' ORDER BY delivery), 'it was announced ' || count(*) || ' times'
FROM notices GROUP BY entry HAVING count(*) > 1;
