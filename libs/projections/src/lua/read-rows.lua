#!lua flags=no-writes
-- Reads a run of entries.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- ARGV[1] 0-based index of the first
-- ARGV[2] how many
-- ARGV[3] how many bytes of a member are columns, to count what is strictly better than the first row; -1: do not
-- returns { total, counter, rows, strictly better or -1 }
-- include order
-- include shard

local total, counter = reading_of(KEYS[1], KEYS[2])
local first = tonumber(ARGV[1])
local rows = rows_between(KEYS[1], first, first + tonumber(ARGV[2]) - 1)
local columns, better = tonumber(ARGV[3]), -1
if columns >= 0 and rows[1] then better = count_better(KEYS[1], rows[2], string.sub(rows[1], 1, columns)) end
return { total, counter, rows, better }
