#!lua flags=no-writes
-- Reads a player's entry in its own shard, with what stands around it.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] index bucket of the player
-- ARGV[1] player id
-- ARGV[2] how many entries above
-- ARGV[3] how many entries below
-- ARGV[4] how many bytes of a member are columns, to count what is strictly better than the first row; -1: do not
-- returns { total, counter, version or nil, 0-based index or -1, index of the first row, rows, strictly better or -1 }
-- include order
-- include shard

local total, counter = reading_of(KEYS[1], KEYS[2])
local value = redis.call('HGET', KEYS[3], ARGV[1])
if not value then return { total, counter, false, -1, 0, {}, -1 } end
local version = struct.unpack('>d', value)
local index = #value > 8 and redis.call('ZRANK', KEYS[1], string.sub(value, 17) .. ARGV[1])
if not index then return { total, counter, version, -1, 0, {}, -1 } end

local first = math.max(index - tonumber(ARGV[2]), 0)
local rows = rows_between(KEYS[1], first, index + tonumber(ARGV[3]))
local columns, better = tonumber(ARGV[4]), -1
if columns >= 0 then better = count_better(KEYS[1], rows[2], string.sub(rows[1], 1, columns)) end
return { total, counter, version, index, first, rows, better }
