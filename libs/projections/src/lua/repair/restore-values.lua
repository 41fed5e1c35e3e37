#!lua
-- Compares a run of a shard's entries with its distinct values, and the other way round: adds those that are missing, and
-- takes out those that no entry has.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] which keys the shard has
-- KEYS[4] distinct values
-- ARGV[1] how many bytes of a member are columns
-- ARGV[2] 0-based index of the first entry
-- ARGV[3] 0-based index of the first distinct value
-- ARGV[4] how many of each
-- returns { entries looked at, values added, values looked at, values taken out }
-- include order
-- include parts
-- include shard
-- include rows
-- include index-value
-- include values

local entries = reading_of(KEYS[1], KEYS[2], KEYS[3])
assert_values(entries, KEYS[4], KEYS[2])
local columns, many = tonumber(ARGV[1]), tonumber(ARGV[4])
local added, removed = 0, 0

local rows = rows_between(KEYS[1], tonumber(ARGV[2]), tonumber(ARGV[2]) + many - 1)
for at = 1, #rows, 2 do
  local value = struct.pack('>d', tonumber(rows[at + 1])) .. string.sub(rows[at], 1, columns)
  added = added + redis.call('ZADD', KEYS[4], 'CH', rows[at + 1], value)
end

local values = rows_between(KEYS[4], tonumber(ARGV[3]), tonumber(ARGV[3]) + many - 1)
for at = 1, #values, 2 do
  local score = string.format('%.17g', (struct.unpack('>d', values[at])))
  if not holds_value(KEYS[1], score, string.sub(values[at], 9)) then
    removed = removed + redis.call('ZREM', KEYS[4], values[at])
  end
end
local changed = added + removed
if changed > 0 and redis.call('EXISTS', KEYS[2]) == 1 then redis.call('INCRBY', KEYS[2], changed) end
return { #rows / 2, added, #values / 2, removed }
