#!lua
-- Brings one shard up to the changes given; those that are not newer than what is there change nothing.
-- KEYS[1] sorted set
-- KEYS[2] apply counter; its expiry is the shard's
-- KEYS[3...] index buckets of the changes
-- ARGV[1] when the keys may go, Unix ms; empty for ever
-- ARGV[2] where a new counter begins
-- ARGV[3] 1: an older counter is raised to there as well
-- ARGV[4...] four for each change: number of the bucket in KEYS, player id, index value, score (empty: removed)
-- returns { changes that were newer, 1 when all keys of the shard want a later expiry, else 0 }

local set, counter = KEYS[1], KEYS[2]
local tombstone_bytes, prefix_from = 8, 17
local newer, changed = 0, 0

for at = 4, #ARGV, 4 do
  local bucket, player, value, score = KEYS[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local known = redis.call('HGET', bucket, player)
  if not known or struct.unpack('>d', known) < struct.unpack('>d', value) then
    local old = known and #known > tombstone_bytes and string.sub(known, prefix_from) .. player
    local new = #value > tombstone_bytes and string.sub(value, prefix_from) .. player
    -- First what can be refused for want of memory: a removal alone would leave the index wrong.
    redis.call('HSET', bucket, player, value)
    if new then redis.call('ZADD', set, score, new) end
    if old and old ~= new then redis.call('ZREM', set, old) end
    newer = newer + 1
    if old or new then changed = changed + 1 end
  end
end

local expiry_of_shard = redis.call('PEXPIRETIME', counter)
if changed > 0 then
  local count = tonumber(redis.call('GET', counter) or '-1')
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
for _, key in ipairs(KEYS) do
  redis.call('PEXPIREAT', key, string.format('%d', keep_until))
end
return { newer, wants_later }
