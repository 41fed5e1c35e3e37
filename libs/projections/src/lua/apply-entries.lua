#!lua
-- Brings one shard up to the changes given; those that are not newer than what is there change nothing.
-- KEYS[1] sorted set
-- KEYS[2] apply counter; its expiry is the shard's. It is no number once the shard was retired: then nothing changes
-- KEYS[3] distinct values, a sorted set, where they are kept
-- KEYS[4] open checkpoints: a hash of slot (0-based) → what is noted, a space, when it closes (Unix ms)
-- KEYS[5] checkpoint 0: entries as they were, of players who changed since
-- KEYS[6] checkpoint 0: what became of them
-- KEYS[7] checkpoint 1: entries as they were
-- KEYS[8] checkpoint 1: what became of them
-- KEYS[9] checkpoint 2: entries as they were
-- KEYS[10] checkpoint 2: what became of them
-- KEYS[11] checkpoint 3: entries as they were
-- KEYS[12] checkpoint 3: what became of them
-- KEYS[13...] index buckets of the changes
-- ARGV[1] when the keys may go, Unix ms; empty for ever
-- ARGV[2] where a new counter begins
-- ARGV[3] 1: an older counter is raised to there as well
-- ARGV[4] how many bytes of a member are columns, where distinct values are kept; -1: they are not
-- ARGV[5] the time, Unix ms: checkpoints that should be closed by then are
-- ARGV[6] how many entries may change until a checkpoint is closed early
-- ARGV[7...] four for each change: number of the bucket in KEYS, player id, index value, score (empty: removed)
-- returns { changes that were newer, 1 when all keys of the shard want a later expiry, else 0 }
-- include order
-- include values
-- include checkpoint

local set, counter, distinct, checkpoints = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local tombstone_bytes, score_from, prefix_from = 8, 9, 17
local columns = tonumber(ARGV[4])
local newer, changed = 0, 0
local count = tonumber(redis.call('GET', counter) or '-1')
if not count then return { 0, 0 } end

-- A checkpoint's second set holds the entries of all players who changed since: whoever is not in it did not.
local open = {}
local sets = { { KEYS[5], KEYS[6] }, { KEYS[7], KEYS[8] }, { KEYS[9], KEYS[10] }, { KEYS[11], KEYS[12] } }
local slots = redis.call('HGETALL', checkpoints)
for at = 1, #slots, 2 do
  local closes = string.match(slots[at + 1], '%d+$')
  local slot = sets[tonumber(slots[at]) + 1]
  local was, is = slot[1], slot[2]
  local most = math.max(redis.call('ZCARD', was), redis.call('ZCARD', is))
  if tonumber(closes) <= tonumber(ARGV[5]) or most > tonumber(ARGV[6]) then
    redis.call('HDEL', checkpoints, slots[at])
    redis.call('UNLINK', was, is)
  else
    open[#open + 1] = { was = was, is = is, closes = closes }
  end
end

for at = 7, #ARGV, 4 do
  local bucket, player, value, score = KEYS[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local known = redis.call('HGET', bucket, player)
  if not known or struct.unpack('>d', known) < struct.unpack('>d', value) then
    local old = known and #known > tombstone_bytes and string.sub(known, prefix_from) .. player
    local new = #value > tombstone_bytes and string.sub(value, prefix_from) .. player
    -- First what can be refused for want of memory: a removal alone would leave the index wrong.
    redis.call('HSET', bucket, player, value)
    newer = newer + 1
    if old or new then changed = changed + 1 end
    local is_moved = not known or string.sub(known, score_from) ~= string.sub(value, score_from)
    if is_moved then
      local old_score = old and score_of(known)
      for _, checkpoint in ipairs(open) do
        if old and redis.call('ZREM', checkpoint.is, old) == 0 then
          redis.call('ZADD', checkpoint.was, old_score, old)
        end
        if new then redis.call('ZADD', checkpoint.is, score, new) end
      end
      if new then redis.call('ZADD', set, score, new) end
      if old and old ~= new then redis.call('ZREM', set, old) end
      if columns >= 0 then
        if new then redis.call('ZADD', distinct, score, distinct_value(value, columns)) end
        if old and not holds_value(set, old_score, string.sub(known, prefix_from, prefix_from + columns - 1)) then
          redis.call('ZREM', distinct, distinct_value(known, columns))
        end
      end
    end
  end
end

for _, checkpoint in ipairs(open) do
  redis.call('PEXPIREAT', checkpoint.was, goes_at(checkpoint.closes))
  redis.call('PEXPIREAT', checkpoint.is, goes_at(checkpoint.closes))
end

local expiry_of_shard = redis.call('PEXPIRETIME', counter)
if changed > 0 then
  local start = tonumber(ARGV[2])
  if count < 0 or (ARGV[3] == '1' and count < start) then redis.call('SET', counter, ARGV[2], 'KEEPTTL') end
  redis.call('INCRBY', counter, changed)
end
if ARGV[1] == '' then return { newer, 0 } end

-- The expiry only ever grows, so that redelivered changes with an older one do not shorten it. A later one is given to
-- all keys by extend-expiry, the counter last; until then new keys keep the present one.
local keep_until, wants_later = tonumber(ARGV[1]), 0
if expiry_of_shard > 0 then
  if keep_until > expiry_of_shard then wants_later = 1 end
  keep_until = expiry_of_shard
end
for at, key in ipairs(KEYS) do
  if at <= 3 or at > 12 then redis.call('PEXPIREAT', key, string.format('%d', keep_until)) end
end
return { newer, wants_later }
