-- The list as of a checkpoint is the unchanged entries (those of the set that are not in `is`) and those that were saved.

-- How many unchanged entries, and how many saved ones, stand before a sort key.
local function parts_before_key(set, was, is, score, member)
  return count_better(set, score, member) - count_better(is, score, member), count_better(was, score, member)
end

-- How many of both stand before the 0-based index of the list as it was.
local function parts_before_index(set, was, is, index)
  local low, high = 0, math.min(redis.call('ZCARD', was), index)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local row = redis.call('ZRANGE', was, middle, middle, 'WITHSCORES')
    if parts_before_key(set, was, is, row[2], row[1]) + middle >= index then
      high = middle
    else
      low = middle + 1
    end
  end
  return index - low, low
end

-- Where in the set the unchanged entry with the 0-based number stands; nil when there is none.
local function index_of_unchanged(set, is, number)
  local entries, changed = redis.call('ZCARD', set), redis.call('ZCARD', is)
  if number < 0 or number >= entries - changed then return nil end
  local low, high = number, number + changed
  while low < high do
    local middle = math.floor((low + high) / 2)
    local after = redis.call('ZRANGE', set, middle + 1, middle + 1, 'WITHSCORES')
    local changed_before = after[1] and (redis.call('ZRANK', is, after[1]) or count_better(is, after[2], after[1]))
    if middle + 1 - (changed_before or changed) > number then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end
