#!lua
-- Says that entries stand nowhere else any more; one that was put again by a newer change stays pending.
-- KEYS[1] entries that are crossing into the shard: player → version, time
-- KEYS[2] which keys the shard has
-- ARGV[1...] two for each: player id, version as in an index value
-- returns how many were pending
-- include index-value
-- include parts

local had = redis.call('EXISTS', KEYS[1]) == 1
local acknowledged = 0
for at = 1, #ARGV, 2 do
  local waits = redis.call('HGET', KEYS[1], ARGV[at])
  if waits and has_version(waits, ARGV[at + 1]) then
    acknowledged = acknowledged + redis.call('HDEL', KEYS[1], ARGV[at])
  end
end
if had and redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SETBIT', KEYS[2], pending_part, 0) end
return acknowledged
