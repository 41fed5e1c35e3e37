-- Members and scores between two 0-based indexes, both included; a negative index is before the first, not from the end.
local function rows_between(set, first, last)
  first = math.max(first, 0)
  if last < first then return {} end
  return redis.call('ZRANGE', set, first, last, 'WITHSCORES')
end
