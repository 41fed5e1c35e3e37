-- How many entries a shard has, and how many changes it has seen. One that was retired is not read any more: what it
-- still holds is old, and what it held may be gone.
local function reading_of(set, counter)
  local count = tonumber(redis.call('GET', counter) or '0')
  if not count then error({ err = 'RETIRED Another generation of this list serves.' }) end
  return redis.call('ZCARD', set), count
end

-- Members and scores between two 0-based indexes, both included; a negative index is before the first, not from the end.
local function rows_between(set, first, last)
  first = math.max(first, 0)
  if last < first then return {} end
  return redis.call('ZRANGE', set, first, last, 'WITHSCORES')
end
