#!lua flags=no-writes
-- Reads the entries of several players in their own shard.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] which keys the shard has
-- KEYS[4] distinct values
-- KEYS[5...] index buckets of the players
-- ARGV[1] rank style, to count what stands before each entry's value; ordinal: do not
-- ARGV[2] how many bytes of a member are columns
-- ARGV[3...] two for each player: number of the bucket in KEYS, player id
-- returns { total, counter, then for each player nil or { 0-based index, index value, count before its value or -1 } }
-- include order
-- include index-value
-- include parts
-- include shard
-- include values

local total, counter = reading_of(KEYS[1], KEYS[2], KEYS[3])
local answer = { total, counter }
local style, columns = ARGV[1], tonumber(ARGV[2])
if style == 'dense' then assert_values(total, KEYS[4], KEYS[2]) end
for at = 3, #ARGV, 2 do
  local player = ARGV[at + 1]
  local value = known_of(KEYS[tonumber(ARGV[at])], player, KEYS[2], KEYS[3])
  local has_entry = value and is_entry(value)
  local index = has_entry and redis.call('ZRANK', KEYS[1], member_of(value, player))
  if has_entry and not index then refuse_lost(KEYS[2]) end
  local before = -1
  if index and style ~= 'ordinal' then
    before = count_before(style, KEYS[1], KEYS[4], score_of(value), string.sub(prefix_of(value), 1, columns))
  end
  answer[#answer + 1] = index and { index, value, before } or false
end
return answer
