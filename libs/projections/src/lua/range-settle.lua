#!lua
-- Says that changes are finished; one that was overtaken by a newer stays as it is.
-- KEYS[1] unfinished changes: player → index values of old places
-- KEYS[2...] index buckets of the changes
-- ARGV[1] the changes, an array in MessagePack: three for each, number of the bucket in KEYS, player id, version as in an
-- index value
-- returns how many were finished
-- include index-value
-- include bulk

local changes = cmsgpack.unpack(ARGV[1])
local finished = {}
for at = 1, #changes, 3 do
  local known = redis.call('HGET', KEYS[changes[at]], changes[at + 1])
  if known and has_version(known, changes[at + 2]) then finished[#finished + 1] = changes[at + 1] end
end
return write_all('HDEL', KEYS[1], finished)
