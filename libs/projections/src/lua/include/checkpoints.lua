-- The checkpoints of a shard that are open. Those that should be closed by now, or hold too many changes, are closed.
-- A checkpoint's second set holds the entries of all players who changed since: whoever is not in it did not.
local function open_checkpoints(checkpoints, sets, at_ms, changes_max)
  local open = {}
  local slots = redis.call('HGETALL', checkpoints)
  for at = 1, #slots, 2 do
    local closes = string.match(slots[at + 1], '%d+$')
    local slot = sets[tonumber(slots[at]) + 1]
    local was, is = slot[1], slot[2]
    local most = math.max(redis.call('ZCARD', was), redis.call('ZCARD', is))
    if tonumber(closes) <= tonumber(at_ms) or most > tonumber(changes_max) then
      redis.call('HDEL', checkpoints, slots[at])
      redis.call('UNLINK', was, is)
    else
      open[#open + 1] = { was = was, is = is, closes = closes }
    end
  end
  return open
end

-- Lets what checkpoints hold go when they close.
local function expire_checkpoints(open)
  for _, checkpoint in ipairs(open) do
    redis.call('PEXPIREAT', checkpoint.was, goes_at(checkpoint.closes))
    redis.call('PEXPIREAT', checkpoint.is, goes_at(checkpoint.closes))
  end
end
