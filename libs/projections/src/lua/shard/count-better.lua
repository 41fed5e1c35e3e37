#!lua flags=no-writes
-- Counts what stands before each of some sort keys: entries, or distinct values.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] which keys the shard has
-- KEYS[4] distinct values
-- ARGV[1] rank style that is counted for
-- ARGV[2...] two for each sort key: score, member; of other styles than ordinal only its columns
-- returns { total, counter, then a count for each sort key }
-- include order
-- include parts
-- include shard
-- include values

local total, counter = reading_of(KEYS[1], KEYS[2], KEYS[3])
if ARGV[1] == 'dense' then assert_values(total, KEYS[4], KEYS[2]) end
local answer = { total, counter }
for at = 2, #ARGV, 2 do
  answer[#answer + 1] = count_before(ARGV[1], KEYS[1], KEYS[4], ARGV[at], ARGV[at + 1])
end
return answer
