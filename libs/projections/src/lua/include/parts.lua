-- Which keys a shard has is noted in a string of bits: its sorted set, changes that are unfinished, entries that are
-- crossing, its counter, how many entries crossed, and from first_bucket on the buckets of its index. What is noted and not
-- there is lost.
local set_part, unfinished_part, pending_part, counter_part, crossings_part, first_bucket = 0, 1, 2, 3, 4, 8

local function part_of(bucket)
  return first_bucket + tonumber(string.match(bucket, '%d+$'))
end

local function is_noted(parts, part)
  return redis.call('GETBIT', parts, part) == 1
end

local function is_lost(parts, part, key)
  return redis.call('EXISTS', key) == 0 and is_noted(parts, part)
end

-- Whether a shard has lost its counter, whose value is given, or the note of its keys: they come and go together.
local function is_torn(count, parts)
  return is_noted(parts, counter_part) ~= (count and true or false)
end
