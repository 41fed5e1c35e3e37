#!lua flags=no-writes
-- Looks at a shard of a list by ranges, and reads what stands around a sort key.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] hash of `crossings`
-- KEYS[4] entries that are crossing into the shard
-- KEYS[5] distinct values
-- KEYS[6] which keys the shard has
-- ARGV[1] what is counted before the first row: see range-count
-- ARGV[2] how many bytes of a member are columns
-- ARGV[3] score
-- ARGV[4] member
-- ARGV[5] how many entries above
-- ARGV[6] how many entries below
-- returns { { entries, counter, crossings, crossing now, distinct values }, index of the first row, rows, what the style
--   counts before the first or -1 }; without rows when the key is not there
-- include order
-- include parts
-- include shard
-- include rows
-- include range-shard

local look = look_at(KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], ARGV[1])
local found = redis.call('ZSCORE', KEYS[1], ARGV[4])
if not found or tonumber(found) ~= tonumber(ARGV[3]) then return { look, 0, {}, -1 } end
local index = redis.call('ZRANK', KEYS[1], ARGV[4])
local first = math.max(index - tonumber(ARGV[5]), 0)
local rows = rows_between(KEYS[1], first, index + tonumber(ARGV[6]))
return { look, first, rows, styled_better(KEYS[1], KEYS[5], ARGV[1], tonumber(ARGV[2]), rows[2], rows[1]) }
