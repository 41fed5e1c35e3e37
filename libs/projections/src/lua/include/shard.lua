-- Refuses to read a shard that has lost a key, or is being filled anew.
local function refuse_lost(counter)
  error({ err = 'LOST ' .. counter .. ' ' .. (redis.call('GET', counter) or '') })
end

-- How many entries a shard has, and how many changes it has seen. One that was retired is not read any more: what it
-- still holds is old, and what it held may be gone.
local function reading_of(set, counter, parts)
  local state = redis.call('GET', counter)
  local count = tonumber(state or '0')
  if state == 'retired' then error({ err = 'RETIRED Another generation of this list serves.' }) end
  local entries = redis.call('ZCARD', set)
  local is_whole = count and (entries > 0 and state or entries == 0 and not is_noted(parts, set_part))
  if not is_whole or is_torn(state, parts) then refuse_lost(counter) end
  return entries, count
end

-- What the index says of a player.
local function known_of(bucket, player, counter, parts)
  local value = redis.call('HGET', bucket, player)
  if not value and is_lost(parts, part_of(bucket), bucket) then refuse_lost(counter) end
  return value
end

-- Refuses to count distinct values that are lost.
local function assert_values(entries, distinct, counter)
  if entries > 0 and redis.call('EXISTS', distinct) == 0 then refuse_lost(counter) end
end
