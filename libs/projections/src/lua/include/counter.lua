-- Whether a shard takes no changes: it was retired, or has lost a key. Its counter is a word then.
local function is_closed(state)
  return state == 'retired' or state == 'lost'
end

-- Counts changes of a shard: a new counter begins at start, and is noted; one that is behind start is raised to it where
-- is_recovery says '1'. While the shard is filled anew a word stands there, and nothing is counted.
local function count_changes(counter, parts, start, is_recovery, changes)
  local state = redis.call('GET', counter)
  local count = tonumber(state or '-1')
  if not count then return end
  if not state then redis.call('SETBIT', parts, counter_part, 1) end
  if count < 0 or (is_recovery == '1' and count < tonumber(start)) then redis.call('SET', counter, start, 'KEEPTTL') end
  redis.call('INCRBY', counter, changes)
end

-- Lets keys live as long as their shard does, or as is wanted where it has no end yet. Returns 1 when a later end is
-- wanted than the shard has: the expiry only ever grows, so that redelivered changes with an older one do not shorten it.
-- A later one is given to all keys by extend-expiry, the counter last; until then new keys keep the present one.
local function keep_keys(keys, expiry_of_shard, wanted)
  if wanted == '' then return 0 end
  local keep_until, wants_later = tonumber(wanted), 0
  if expiry_of_shard > 0 then
    if keep_until > expiry_of_shard then wants_later = 1 end
    keep_until = expiry_of_shard
  end
  for _, key in ipairs(keys) do
    redis.call('PEXPIREAT', key, string.format('%d', keep_until))
  end
  return wants_later
end
