#!lua flags=no-writes
-- Counts the entries that stand before each of some sort keys, as if the player had none.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] index bucket of the player
-- ARGV[1] player id
-- ARGV[2...] two for each sort key: score, member
-- returns { total without the player, counter, version or nil, then a count for each sort key }
-- include order
-- include index-value
-- include shard

local total, counter = reading_of(KEYS[1], KEYS[2])
local value = redis.call('HGET', KEYS[3], ARGV[1])
local own = value and is_entry(value) and redis.call('ZRANK', KEYS[1], prefix_of(value) .. ARGV[1])
local answer = { own and total - 1 or total, counter, value and version_of(value) }
for at = 2, #ARGV, 2 do
  local better = count_better(KEYS[1], ARGV[at], ARGV[at + 1])
  answer[#answer + 1] = own and own < better and better - 1 or better
end
return answer
