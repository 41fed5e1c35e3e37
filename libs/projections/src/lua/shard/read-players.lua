#!lua flags=no-writes
-- Reads the entries of several players in their own shard, with what stands around each.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] which keys the shard has
-- KEYS[4] distinct values
-- KEYS[5...] index buckets of the players
-- ARGV[1] rank style, to count what stands before a first row's value; ordinal: do not
-- ARGV[2] how many bytes of a member are columns
-- ARGV[3...] four for each player: number of the bucket in KEYS, player id, how many entries above, how many below
-- returns { total, counter, then for each player { version or nil, 0-based index or -1, index of the first row, rows,
--   count before the first row or -1 } }
-- include order
-- include index-value
-- include parts
-- include shard
-- include rows
-- include values

local total, counter = reading_of(KEYS[1], KEYS[2], KEYS[3])
local style, columns = ARGV[1], tonumber(ARGV[2])
if style == 'dense' then assert_values(total, KEYS[4], KEYS[2]) end

local function read_player(bucket, player, above, below)
  local value = known_of(bucket, player, KEYS[2], KEYS[3])
  if not value then return { false, -1, 0, {}, -1 } end
  local version = version_of(value)
  if not is_entry(value) then return { version, -1, 0, {}, -1 } end
  local index = redis.call('ZRANK', KEYS[1], member_of(value, player))
  if not index then refuse_lost(KEYS[2]) end
  local first = math.max(index - above, 0)
  local rows = rows_between(KEYS[1], first, index + below)
  local before = -1
  if style ~= 'ordinal' then
    before = count_before(style, KEYS[1], KEYS[4], rows[2], string.sub(rows[1], 1, columns))
  end
  return { version, index, first, rows, before }
end

local answer = { total, counter }
for at = 3, #ARGV, 4 do
  local bucket, above, below = KEYS[tonumber(ARGV[at])], tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  answer[#answer + 1] = read_player(bucket, ARGV[at + 1], above, below)
end
return answer
