#!lua flags=no-writes
-- Counts the entries that stand before each of some sort keys, as if the player had none.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] which keys the shard has
-- KEYS[4] index bucket of the player
-- ARGV[1] player id
-- ARGV[2...] two for each sort key: score, member
-- returns { total without the player, counter, version or nil, then a count for each sort key }
-- include order
-- include index-value
-- include parts
-- include shard

local total, counter = reading_of(KEYS[1], KEYS[2], KEYS[3])
local value = known_of(KEYS[4], ARGV[1], KEYS[2], KEYS[3])
local has_entry = value and is_entry(value)
local own = has_entry and redis.call('ZRANK', KEYS[1], member_of(value, ARGV[1]))
if has_entry and not own then refuse_lost(KEYS[2]) end
local answer = { own and total - 1 or total, counter, value and version_of(value) }
for at = 2, #ARGV, 2 do
  local better = count_better(KEYS[1], ARGV[at], ARGV[at + 1])
  answer[#answer + 1] = own and own < better and better - 1 or better
end
return answer
