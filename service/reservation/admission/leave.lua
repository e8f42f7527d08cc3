-- Gives back a permit and an in-flight mark, each only if it still is this token's.
-- KEYS: permits, in-flight mark. ARGV: token.
redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('GET', KEYS[2]) == ARGV[1] then
    redis.call('DEL', KEYS[2])
end
return 1
