-- How many entries a shard has, and how many changes it has seen.
local function reading_of(set, counter)
  return redis.call('ZCARD', set), tonumber(redis.call('GET', counter) or '0')
end

-- Members and scores between two 0-based indexes, both included; a negative index is before the first, not from the end.
local function rows_between(set, first, last)
  first = math.max(first, 0)
  if last < first then return {} end
  return redis.call('ZRANGE', set, first, last, 'WITHSCORES')
end
