#!lua
-- Says that entries stand nowhere else any more; one that was put again by a newer change stays pending.
-- KEYS[1] entries that are crossing into the shard: player → version, time
-- ARGV[1...] two for each: player id, version as in an index value
-- returns how many were pending
-- include index-value

local acknowledged = 0
for at = 1, #ARGV, 2 do
  local waits = redis.call('HGET', KEYS[1], ARGV[at])
  if waits and has_version(waits, ARGV[at + 1]) then
    acknowledged = acknowledged + redis.call('HDEL', KEYS[1], ARGV[at])
  end
end
return acknowledged
