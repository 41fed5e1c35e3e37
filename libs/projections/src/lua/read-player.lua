#!lua flags=no-writes
-- Reads a player's entry in its own shard, with what stands around it.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] distinct values
-- KEYS[4] index bucket of the player
-- ARGV[1] player id
-- ARGV[2] how many entries above
-- ARGV[3] how many entries below
-- ARGV[4] rank style, to count what stands before the first row's value; ordinal: do not
-- ARGV[5] how many bytes of a member are columns
-- returns { total, counter, version or nil, 0-based index or -1, index of the first row, rows, count before it or -1 }
-- include order
-- include index-value
-- include shard
-- include values

local total, counter = reading_of(KEYS[1], KEYS[2])
local value = redis.call('HGET', KEYS[4], ARGV[1])
if not value then return { total, counter, false, -1, 0, {}, -1 } end
local version = version_of(value)
local index = is_entry(value) and redis.call('ZRANK', KEYS[1], prefix_of(value) .. ARGV[1])
if not index then return { total, counter, version, -1, 0, {}, -1 } end

local first = math.max(index - tonumber(ARGV[2]), 0)
local rows = rows_between(KEYS[1], first, index + tonumber(ARGV[3]))
local before = -1
if ARGV[4] ~= 'ordinal' then
  before = count_before(ARGV[4], KEYS[1], KEYS[3], rows[2], string.sub(rows[1], 1, tonumber(ARGV[5])))
end
return { total, counter, version, index, first, rows, before }
