#!lua
-- Puts entries into one shard of a list by ranges, and takes others out of it, except where the shard has seen something
-- newer of the player. That it would know is certain only within an epoch: the writer names the one that it knew of
-- before it claimed its changes, and in another nothing is done.
-- KEYS[1] sorted set
-- KEYS[2] apply counter; its expiry is the shard's. It is no number once the shard was retired: then nothing changes
-- KEYS[3] distinct values, a sorted set, where they are kept
-- KEYS[4] open checkpoints: a hash of slot (0-based) → id, a space, when it closes (Unix ms)
-- KEYS[5] checkpoint 0: entries as they were, of players who changed since
-- KEYS[6] checkpoint 0: what became of them
-- KEYS[7] checkpoint 1: entries as they were
-- KEYS[8] checkpoint 1: what became of them
-- KEYS[9] checkpoint 2: entries as they were
-- KEYS[10] checkpoint 2: what became of them
-- KEYS[11] checkpoint 3: entries as they were
-- KEYS[12] checkpoint 3: what became of them
-- KEYS[13] hash of `epoch`, the last that was begun, and `crossings`: entries that came from other shards or went there
-- KEYS[14] entries that are crossing into the shard: player → version, time (Unix ms)
-- KEYS[15] what was written in this epoch: player → version; the field without a name holds the epoch
-- ARGV[1] when the keys may go, Unix ms; empty for ever
-- ARGV[2] where a new counter begins
-- ARGV[3] 1: an older counter is raised to there as well
-- ARGV[4] how many bytes of a member are columns, where distinct values are kept; -1: they are not
-- ARGV[5] the time, Unix ms: checkpoints that should be closed by then are
-- ARGV[6] how many entries may change until a checkpoint is closed early
-- ARGV[7] the epoch that the writer knows; empty: none
-- ARGV[8] how many bytes a member has without the player id
-- ARGV[9] after how many players an epoch ends
-- ARGV[10] after how long without a write an epoch ends, ms
-- ARGV[11...] four for each change: player id, index value (of a removal, or where the entry goes to another shard, the
--   version alone), what is special of it, index values of old places in this shard. Special are letters: p (it is
--   pending until it is acknowledged), u (its coming or going is no crossing)
-- returns { the epoch, 1 when all keys of the shard want a later expiry, else 0, then for each change 1, or 0 when
--   something newer was there }; the epoch alone when it is another, nothing when the shard was retired
-- include order
-- include index-value
-- include values
-- include entries
-- include checkpoint
-- include checkpoints
-- include counter

local counter, state, pending, written = KEYS[2], KEYS[13], KEYS[14], KEYS[15]
local prefix_bytes = tonumber(ARGV[8])

if is_retired(counter) then return {} end
local epoch = redis.call('HGET', written, '')
if not epoch or redis.call('HLEN', written) > tonumber(ARGV[9]) then
  redis.call('UNLINK', written)
  local last = math.max(tonumber(epoch or '0'), tonumber(redis.call('HGET', state, 'epoch') or '0'))
  epoch = string.format('%.0f', math.max(last + 1, tonumber(ARGV[5])))
  redis.call('HSET', state, 'epoch', epoch)
  redis.call('HSET', written, '', epoch)
end
redis.call('PEXPIRE', written, ARGV[10])
local expiry_of_shard = redis.call('PEXPIRETIME', counter)
if epoch ~= ARGV[7] then
  if ARGV[1] ~= '' then
    count_changes(counter, ARGV[2], '0', 0)
    keep_keys({ counter, state }, expiry_of_shard, ARGV[1])
  end
  return { epoch }
end

local sets = { { KEYS[5], KEYS[6] }, { KEYS[7], KEYS[8] }, { KEYS[9], KEYS[10] }, { KEYS[11], KEYS[12] } }
local shard = {
  set = KEYS[1],
  distinct = KEYS[3],
  columns = tonumber(ARGV[4]),
  open = open_checkpoints(KEYS[4], sets, ARGV[5], ARGV[6]),
}

local function score_in_set(entry)
  local score = redis.call('ZSCORE', shard.set, entry.member)
  return score and tonumber(score)
end

-- Brings what stands of a player in this shard to the entry that is new, if any. Returns how many entries went.
local function bring_to(new, player, places)
  local standing = {}
  for _, place in ipairs(values_in(places, prefix_bytes)) do
    local old = entry_of(place, player)
    if score_in_set(old) == tonumber(old.score) then standing[#standing + 1] = old end
  end
  local score = new and score_in_set(new)
  if new and score ~= tonumber(new.score) then
    replace_entry(shard, standing[1], new)
  elseif standing[1] then
    replace_entry(shard, standing[1], nil)
  end
  for at = 2, #standing do
    replace_entry(shard, standing[at], nil)
  end
  return #standing, new and not score
end

local answer = { epoch, 0 }
local changed, crossings = 0, 0
for at = 11, #ARGV, 4 do
  local player, value, special, places = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local version = version_of(value)
  local seen = redis.call('HGET', written, player)
  if seen and version_of(seen) > version then
    answer[#answer + 1] = 0
  else
    local new = is_entry(value) and entry_of(value, player)
    local is_pending = string.find(special, 'p', 1, true)
    redis.call('HSET', written, player, version_part(value))
    if is_pending then
      redis.call('HSET', pending, player, version_part(value) .. struct.pack('>d', tonumber(ARGV[5])))
    end
    local went, is_added = bring_to(new, player, places)
    if new or went > 0 then changed = changed + 1 end
    local is_crossing = (went > 0 and not new) or (went == 0 and is_added)
    if is_crossing and not string.find(special, 'u', 1, true) then crossings = crossings + 1 end
    if not is_pending then
      local waits = redis.call('HGET', pending, player)
      if waits and version_of(waits) <= version then redis.call('HDEL', pending, player) end
    end
    answer[#answer + 1] = 1
  end
end
expire_checkpoints(shard.open)
if crossings > 0 then redis.call('HINCRBY', state, 'crossings', crossings) end
if changed > 0 or ARGV[1] ~= '' then count_changes(counter, ARGV[2], ARGV[3], changed) end
answer[2] = keep_keys({ shard.set, counter, shard.distinct, state, pending }, expiry_of_shard, ARGV[1])
return answer
