#!lua
-- Forgets what the index says of a player, unless it says something else by now.
-- KEYS[1] index bucket of the player
-- ARGV[1] player id
-- ARGV[2] index value
-- returns 1 when it was forgotten

if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
