-- Closes a shard that has lost a key: nothing is read of it and nothing changed until it was emptied and filled anew.
local function lose(counter)
  redis.call('SET', counter, 'lost', 'KEEPTTL')
end

-- How many entries a shard has; nil when its set, its counter, the note of its keys or its distinct values are lost.
local function entries_of(shard, state, parts)
  if is_torn(state, parts) then return nil end
  local entries = redis.call('ZCARD', shard.set)
  if entries == 0 then return not is_noted(parts, set_part) and entries or nil end
  local has_values = shard.columns < 0 or redis.call('EXISTS', shard.distinct) == 1
  return state and has_values and entries or nil
end

-- Of the keys from one on, all of them buckets, those parts that are not there yet; nil when one of them is lost, or is
-- there without a counter.
local function new_buckets(state, parts, keys, from)
  local new = {}
  local there = redis.call('EXISTS', unpack(keys, from))
  if there > 0 and not state then return nil end
  if there == #keys - from + 1 then return new end
  for at = from, #keys do
    if redis.call('EXISTS', keys[at]) == 0 then
      new[#new + 1] = part_of(keys[at])
      if is_noted(parts, new[#new]) then return nil end
    end
  end
  return new
end

local function note_buckets(parts, new)
  for _, part in ipairs(new) do
    redis.call('SETBIT', parts, part, 1)
  end
end

-- Notes whether the shard has a set now, which it had when it had entries.
local function note_set(shard, entries, parts)
  local has = redis.call('ZCARD', shard.set) > 0
  if has ~= (entries > 0) then redis.call('SETBIT', parts, set_part, has and 1 or 0) end
end
