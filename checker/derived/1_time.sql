-- How far the database's clock is ahead of CLOCK_MONOTONIC, each time the two were read together.
CREATE TABLE database_clock AS
SELECT real_ns, min(real_ns - mono_ns) AS ahead_ns, max(slack_ns) AS slack_ns
FROM clocks WHERE process = 'postgres' GROUP BY real_ns;

-- What a converted instant may be wrong by: the reading itself, and how far the clocks moved between two readings.
CREATE TABLE clock_error AS
SELECT coalesce(max(slack_ns), 0) + coalesce(max(abs(moved_ns)), 0) AS ns
FROM (SELECT slack_ns, ahead_ns - lag(ahead_ns) OVER (ORDER BY real_ns) AS moved_ns FROM database_clock);

-- What it may be wrong by however often the clocks were moved, or have drifted: between any two of the readings.
CREATE TABLE clock_spread AS
SELECT max(slack_ns) + max(ahead_ns) - min(ahead_ns) AS ns FROM database_clock;
