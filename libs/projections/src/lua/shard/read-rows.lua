#!lua flags=no-writes
-- Reads a run of entries.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] which keys the shard has
-- KEYS[4] distinct values
-- ARGV[1] 0-based index of the first
-- ARGV[2] how many
-- ARGV[3] rank style, to count what stands before the first row's value; ordinal: do not
-- ARGV[4] how many bytes of a member are columns
-- returns { total, counter, rows, count before the first or -1 }
-- include order
-- include parts
-- include shard
-- include rows
-- include values

local total, counter = reading_of(KEYS[1], KEYS[2], KEYS[3])
if ARGV[3] == 'dense' then assert_values(total, KEYS[4], KEYS[2]) end
local first = tonumber(ARGV[1])
local rows = rows_between(KEYS[1], first, first + tonumber(ARGV[2]) - 1)
local before = -1
if ARGV[3] ~= 'ordinal' and rows[1] then
  before = count_before(ARGV[3], KEYS[1], KEYS[4], rows[2], string.sub(rows[1], 1, tonumber(ARGV[4])))
end
return { total, counter, rows, before }
