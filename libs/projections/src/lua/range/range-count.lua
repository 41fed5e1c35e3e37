#!lua flags=no-writes
-- Looks at a shard of a list by ranges, and counts what stands there before some sort keys.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] hash of `crossings`
-- KEYS[4] entries that are crossing into the shard
-- KEYS[5] distinct values
-- KEYS[6] which keys the shard has
-- ARGV[1] what is counted beside the entries before a key: ordinal (nothing), competition (those that are strictly
--   better) or dense (distinct values that are better)
-- ARGV[2] how many bytes of a member are columns
-- ARGV[3...] two for each sort key: score, member (or the beginning of one)
-- returns { { entries, counter, crossings, crossing now, distinct values }, then for each key three: 1 when it is there,
--   else 0, entries before it, what the style counts or -1 }
-- include order
-- include parts
-- include shard
-- include range-shard

local set, distinct = KEYS[1], KEYS[5]
local answer = { look_at(KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], ARGV[1]) }
for at = 3, #ARGV, 2 do
  local score, member = ARGV[at], ARGV[at + 1]
  local found = redis.call('ZSCORE', set, member)
  answer[#answer + 1] = found and tonumber(found) == tonumber(score) and 1 or 0
  answer[#answer + 1] = count_better(set, score, member)
  answer[#answer + 1] = styled_better(set, distinct, ARGV[1], tonumber(ARGV[2]), score, member)
end
return answer
