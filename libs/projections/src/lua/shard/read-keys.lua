#!lua flags=no-writes
-- Reads what the index knows of several players, in their own shard.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] which keys the shard has
-- KEYS[4...] index buckets of the players
-- ARGV[1...] two for each player: number of the bucket in KEYS, player id
-- returns { total, counter, then for each player nil or the index value }
-- include parts
-- include shard

local answer = { reading_of(KEYS[1], KEYS[2], KEYS[3]) }
for at = 1, #ARGV, 2 do
  answer[#answer + 1] = known_of(KEYS[tonumber(ARGV[at])], ARGV[at + 1], KEYS[2], KEYS[3])
end
return answer
