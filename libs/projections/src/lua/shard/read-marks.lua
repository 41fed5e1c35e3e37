#!lua flags=no-writes
-- Reads the entries of a shard at equal steps of their index, and the last one.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] which keys the shard has
-- ARGV[1] the step
-- ARGV[2] how many steps are taken at most: a longer shard is read at a longer one
-- returns { total, counter, step, rows }
-- include parts
-- include shard

local total, counter = reading_of(KEYS[1], KEYS[2], KEYS[3])
local step = math.max(tonumber(ARGV[1]), math.ceil(total / tonumber(ARGV[2])))
local rows = {}
local function read(index)
  local row = redis.call('ZRANGE', KEYS[1], index, index, 'WITHSCORES')
  rows[#rows + 1] = row[1]
  rows[#rows + 1] = row[2]
end
for index = 0, total - 1, step do read(index) end
if total > 0 and (total - 1) % step ~= 0 then read(total - 1) end
return { total, counter, step, rows }
