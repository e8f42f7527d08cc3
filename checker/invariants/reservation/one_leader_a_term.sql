-- name: one_leader_a_term
-- sentence: Each term has one leader, terms only rise, and nobody takes a lease that still runs.
-- needs: trail, leader_leases.holder, leader_leases.term, leader_leases.expires_us
-- rests on: trail_complete, clocks_comparable
-- catches: two-leaders

-- looked at
SELECT count(DISTINCT row(slot, term)) FROM commits.leader_leases WHERE present AND commit_lsn > 0;

-- counter-examples
WITH leases AS (
    SELECT *, lag(holder) OVER slot_of AS holder_before, lag(term) OVER slot_of AS term_before, lag(expires_us) OVER slot_of AS expires_before_us
    FROM commits.leader_leases WHERE present WINDOW slot_of AS (PARTITION BY slot ORDER BY commit_lsn)
)
SELECT commit_lsn, slot, term, holder, holder_before, CASE
        WHEN term < term_before THEN 'the term had been ' || term_before
        WHEN term = term_before THEN 'the term was another''s'
        ELSE 'the other''s lease ran ' || (expires_before_us - commit_us) || ' µs longer' END AS but
FROM leases
WHERE commit_lsn > 0 AND (term < term_before OR holder <> holder_before AND (term = term_before OR commit_us < expires_before_us));
