#!lua
-- Forgets what the index says of a player, unless it says something else by now.
-- KEYS[1] index bucket of the player
-- KEYS[2] which keys the shard has
-- ARGV[1] player id
-- ARGV[2] index value
-- returns 1 when it was forgotten
-- include parts

if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SETBIT', KEYS[2], part_of(KEYS[1]), 0) end
return 1
