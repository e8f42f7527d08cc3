-- Every row that an operation can make and that anyone ever saw, in the trail or at rest, as it was first seen.
CREATE TABLE made AS
WITH seen AS (
    SELECT 'holds' AS made, id, tenant, resource, owner, quantity, key, commit_lsn, commit_lsn > 0 AS in_run
    FROM commits.holds WHERE present
    UNION ALL SELECT 'holds', id, tenant, resource, owner, quantity, key, NULL, true FROM state.holds
    UNION ALL SELECT 'reservations', id, tenant, resource, owner, quantity, key, commit_lsn, commit_lsn > 0
    FROM commits.reservations WHERE present
    UNION ALL SELECT 'reservations', id, tenant, resource, owner, quantity, key, NULL, true FROM state.reservations
    UNION ALL SELECT 'waitlist_entries', id, tenant, resource, owner, 1, key, commit_lsn, commit_lsn > 0
    FROM commits.waitlist_entries WHERE present
    UNION ALL SELECT 'waitlist_entries', id, tenant, resource, owner, 1, key, NULL, true FROM state.waitlist_entries
)
SELECT made, id, min(commit_lsn) AS commit_lsn, bool_and(in_run) AS in_run,
    arg_min(struct_pack(tenant, resource, owner, quantity, key), coalesce(commit_lsn, 18446744073709551615)) AS image
FROM seen GROUP BY made, id;
