-- When something was broken, and the second after it was healed in which connections are made anew: by its start, with
-- the latest end of all that had started by then.
CREATE TABLE broken AS
WITH spans AS (
    SELECT coalesce(injected_ns, planned_ns) AS from_ns, coalesce(healed_ns + 1000000000, 9223372036854775807) AS until_ns
    FROM faults WHERE coalesce(injected_ns, landed_ns) IS NOT NULL
)
SELECT from_ns, max(until_ns) OVER (ORDER BY from_ns) AS until_ns FROM spans;
