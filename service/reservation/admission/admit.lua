-- Grants a leased permit and marks the command as under way, or neither. All by Redis' own clock.
-- KEYS: permits (sorted set, member = token, score = deadline in ms), in-flight mark.
-- ARGV: permits, lease in ms, token, the mark's time to live in ms.
-- Returns 1 admitted, 0 no permit, 2 the same command is under way.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then
    return 0
end
if not redis.call('SET', KEYS[2], ARGV[3], 'NX', 'PX', ARGV[4]) then
    return 2
end
redis.call('ZADD', KEYS[1], now + ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
