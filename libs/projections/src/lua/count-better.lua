#!lua flags=no-writes
-- Counts the entries that stand before each of some sort keys.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- ARGV[1...] two for each sort key: score, member (or the beginning of one)
-- returns { total, counter, then a count for each sort key }
-- include order
-- include shard

local total, counter = reading_of(KEYS[1], KEYS[2])
local answer = { total, counter }
for at = 1, #ARGV, 2 do
  answer[#answer + 1] = count_better(KEYS[1], ARGV[at], ARGV[at + 1])
end
return answer
