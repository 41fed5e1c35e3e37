-- What stands for score and columns among the distinct values: members of equal scores order as the columns do.
local function distinct_value(index_value, columns)
  return score_bytes(index_value) .. string.sub(prefix_of(index_value), 1, columns)
end

-- Whether an entry of the set has this score and these columns.
local function holds_value(set, score, columns)
  if columns == '' then return redis.call('ZCOUNT', set, score, score) > 0 end
  local index = count_better(set, score, columns)
  local row = redis.call('ZRANGE', set, index, index, 'WITHSCORES')
  return row[1] and tonumber(row[2]) == tonumber(score) and string.sub(row[1], 1, #columns) == columns
end

-- How many entries, or for the style dense distinct values, stand before those with this score and these columns; for
-- ordinal how many entries stand before the member.
local function count_before(style, set, distinct, score, member)
  if style ~= 'dense' then return count_better(set, score, member) end
  local value = struct.pack('>d', tonumber(score)) .. member
  return redis.call('ZRANK', distinct, value) or count_better(distinct, score, value)
end
