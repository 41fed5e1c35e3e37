#!lua
-- Says that changes are finished; one that was overtaken by a newer stays as it is.
-- KEYS[1] unfinished changes: player → index values of old places
-- KEYS[2] which keys the home has
-- KEYS[3...] index buckets of the changes
-- ARGV[1] the changes, an array in MessagePack: three for each, number of the bucket in KEYS, player id, version as in an
-- index value
-- returns how many were finished
-- include index-value
-- include bulk
-- include parts

local changes = cmsgpack.unpack(ARGV[1])
local finished = {}
for at = 1, #changes, 3 do
  local known = redis.call('HGET', KEYS[changes[at]], changes[at + 1])
  if known and has_version(known, changes[at + 2]) then finished[#finished + 1] = changes[at + 1] end
end
local had = redis.call('EXISTS', KEYS[1]) == 1
local settled = write_all('HDEL', KEYS[1], finished)
if had and redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SETBIT', KEYS[2], unfinished_part, 0) end
return settled
