#!lua flags=no-writes
-- Reads what stands around a sort key that is not in this shard.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- ARGV[1] score
-- ARGV[2] member
-- ARGV[3] how many entries above
-- ARGV[4] how many entries below
-- returns { total, counter, entries before the key, rows }
-- include order
-- include shard

local total, counter = reading_of(KEYS[1], KEYS[2])
local better = count_better(KEYS[1], ARGV[1], ARGV[2])
local rows = rows_between(KEYS[1], better - tonumber(ARGV[3]), better + tonumber(ARGV[4]) - 1)
return { total, counter, better, rows }
