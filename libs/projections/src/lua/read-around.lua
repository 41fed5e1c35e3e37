#!lua flags=no-writes
-- Reads what stands around sort keys that are not in this shard.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- ARGV[1...] four for each key: score, member, how many entries above, how many below
-- returns { total, counter, then for each key { entries before it, rows } }
-- include order
-- include shard

local total, counter = reading_of(KEYS[1], KEYS[2])
local answer = { total, counter }
for at = 1, #ARGV, 4 do
  local better = count_better(KEYS[1], ARGV[at], ARGV[at + 1])
  local first, last = better - tonumber(ARGV[at + 2]), better + tonumber(ARGV[at + 3]) - 1
  answer[#answer + 1] = { better, rows_between(KEYS[1], first, last) }
end
return answer
