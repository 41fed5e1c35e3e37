#!lua flags=no-writes
-- Looks at a shard of a list by ranges, and reads a run of its entries.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] hash of `crossings`
-- KEYS[4] entries that are crossing into the shard
-- KEYS[5] distinct values
-- KEYS[6] which keys the shard has
-- ARGV[1] what is counted before the first row: see range-count
-- ARGV[2] how many bytes of a member are columns
-- ARGV[3] 0-based index of the first; below 0: that many from the end
-- ARGV[4] how many
-- returns { { entries, counter, crossings, crossing now, distinct values }, index of the first row, rows, what the style
--   counts before the first or -1 }
-- include order
-- include parts
-- include shard
-- include rows
-- include range-shard

local look = look_at(KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], ARGV[1])
local first = tonumber(ARGV[3])
if first < 0 then first = math.max(look[1] + first, 0) end
local rows = rows_between(KEYS[1], first, first + tonumber(ARGV[4]) - 1)
local better = -1
if rows[1] then better = styled_better(KEYS[1], KEYS[5], ARGV[1], tonumber(ARGV[2]), rows[2], rows[1]) end
return { look, first, rows, better }
