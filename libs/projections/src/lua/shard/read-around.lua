#!lua flags=no-writes
-- Reads what stands around sort keys that are not in this shard.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] which keys the shard has
-- ARGV[1...] four for each key: score, member, how many entries above, how many below
-- returns { total, counter, then for each key { entries before it, rows } }
-- include order
-- include parts
-- include shard
-- include rows

local total, counter = reading_of(KEYS[1], KEYS[2], KEYS[3])
local answer = { total, counter }
for at = 1, #ARGV, 4 do
  local better = count_better(KEYS[1], ARGV[at], ARGV[at + 1])
  local first, last = better - tonumber(ARGV[at + 2]), better + tonumber(ARGV[at + 3]) - 1
  answer[#answer + 1] = { better, rows_between(KEYS[1], first, last) }
end
return answer
