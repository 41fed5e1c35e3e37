#!lua
-- Takes members out of a sorted set that the index does not know of: what it knows was written in one step with it.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] which keys the shard has
-- KEYS[4...] index buckets of the players
-- ARGV[1...] three for each member: number of the bucket in KEYS, player id, member
-- returns how many were taken out
-- include order
-- include parts
-- include shard
-- include index-value
-- include values
-- include entries

reading_of(KEYS[1], KEYS[2], KEYS[3])
local removed = 0
for at = 1, #ARGV, 3 do
  local player, member = ARGV[at + 1], ARGV[at + 2]
  local value = known_of(KEYS[tonumber(ARGV[at])], player, KEYS[2], KEYS[3])
  local is_known = value and is_entry(value) and entry_of(value, player).member == member
  if not is_known then removed = removed + redis.call('ZREM', KEYS[1], member) end
end
if removed > 0 and redis.call('EXISTS', KEYS[1]) == 0 then redis.call('SETBIT', KEYS[3], set_part, 0) end
if removed > 0 and redis.call('EXISTS', KEYS[2]) == 1 then redis.call('INCRBY', KEYS[2], removed) end
return removed
