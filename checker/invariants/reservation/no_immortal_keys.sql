-- name: no_immortal_keys
-- sentence: Every key in Redis ends by itself.
-- needs: samples
-- rests on: nothing
-- catches: ttl-less

-- looked at
SELECT count(*) FROM samples WHERE source = 'redis' AND metric = 'immortal_keys';

-- counter-examples
-- Samples of source `redis`, metric `immortal_keys`: how many keys a scan found that have no time to live. A key that
-- gets its time in a second command lacks it for a moment only, so the last scan counts.
SELECT mono_ns AS at_ns, CAST(value AS BIGINT) AS immortal_keys FROM samples
WHERE source = 'redis' AND metric = 'immortal_keys'
QUALIFY row_number() OVER (ORDER BY mono_ns DESC) = 1 AND value > 0;
