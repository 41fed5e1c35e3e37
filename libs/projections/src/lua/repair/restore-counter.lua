#!lua
-- Gives a shard that has entries its counter back, when that is missing or cannot be right.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- ARGV[1] where a counter begins that is made now
-- ARGV[2] what a counter of this shard is at least
-- ARGV[3] when the keys may go, Unix ms; empty for ever
-- returns 1 when it was restored

local count = redis.call('GET', KEYS[2])
if count and not tonumber(count) then return 0 end
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
if count and tonumber(count) >= tonumber(ARGV[2]) then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'KEEPTTL')
if not count and ARGV[3] ~= '' then redis.call('PEXPIREAT', KEYS[2], ARGV[3]) end
return 1
