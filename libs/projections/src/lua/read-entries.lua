#!lua flags=no-writes
-- Reads the entries of several players in their own shard.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3...] index buckets of the players
-- ARGV[1...] two for each player: number of the bucket in KEYS, player id
-- returns { total, counter, then for each player nil or { 0-based index, index value } }
-- include shard

local total, counter = reading_of(KEYS[1], KEYS[2])
local answer = { total, counter }
for at = 1, #ARGV, 2 do
  local player = ARGV[at + 1]
  local value = redis.call('HGET', KEYS[tonumber(ARGV[at])], player)
  local index = value and #value > 8 and redis.call('ZRANK', KEYS[1], string.sub(value, 17) .. player)
  answer[#answer + 1] = index and { index, value } or false
end
return answer
