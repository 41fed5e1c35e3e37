#!lua flags=no-writes
-- Reads what the index knows of several players, and whether the sorted set has the same.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] which keys the shard has
-- KEYS[4...] index buckets of the players
-- ARGV[1...] two for each player: number of the bucket in KEYS, player id
-- returns for each player { index value or nil, score in the sorted set of the entry that the index names, or nil }
-- include order
-- include parts
-- include shard
-- include index-value
-- include values
-- include entries

reading_of(KEYS[1], KEYS[2], KEYS[3])
local answer = {}
for at = 1, #ARGV, 2 do
  local player = ARGV[at + 1]
  local value = known_of(KEYS[tonumber(ARGV[at])], player, KEYS[2], KEYS[3])
  local has_entry = value and is_entry(value)
  answer[#answer + 1] = { value, has_entry and redis.call('ZSCORE', KEYS[1], entry_of(value, player).member) }
end
return answer
