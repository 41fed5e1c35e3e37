#!lua
-- Says that changes are finished; one that was overtaken by a newer stays as it is.
-- KEYS[1] unfinished changes: player → index values of old places
-- KEYS[2...] index buckets of the changes
-- ARGV[1...] three for each change: number of the bucket in KEYS, player id, version as in an index value
-- returns how many were finished
-- include index-value

local finished = 0
for at = 1, #ARGV, 3 do
  local known = redis.call('HGET', KEYS[tonumber(ARGV[at])], ARGV[at + 1])
  if known and version_of(known) == version_of(ARGV[at + 2]) then
    finished = finished + redis.call('HDEL', KEYS[1], ARGV[at + 1])
  end
end
return finished
