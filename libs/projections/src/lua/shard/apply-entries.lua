#!lua
-- Brings one shard up to the changes given; those that are not newer than what is there change nothing.
-- KEYS[1] sorted set
-- KEYS[2] apply counter; its expiry is the shard's. It is a word once the shard was retired or lost a key: then
--   nothing changes
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
-- KEYS[13] which keys the shard has
-- KEYS[14...] index buckets of the changes
-- ARGV[1] when the keys may go, Unix ms; empty for ever
-- ARGV[2] where a new counter begins
-- ARGV[3] 1: an older counter is raised to there as well, also where nothing is newer
-- ARGV[4] how many bytes of a member are columns, where distinct values are kept; -1: they are not
-- ARGV[5] the time, Unix ms: checkpoints that should be closed by then are
-- ARGV[6] how many entries may change until a checkpoint is closed early
-- ARGV[7] the changes, an array in MessagePack: four for each, number of the bucket in KEYS, player id, index value, score
-- (empty: removed)
-- returns { changes that were newer, 1 when all keys of the shard want a later expiry, else 0, lost where it has lost a
--   key, else nothing }
-- include order
-- include index-value
-- include index-bucket
-- include values
-- include entries
-- include checkpoint
-- include checkpoints
-- include parts
-- include counter
-- include noted-parts
-- include bulk
-- include plain-entries

local newer, changed = 0, 0
local state = redis.call('GET', KEYS[2])
if is_closed(state) then return { 0, 0, state == 'lost' and state } end

local sets = { { KEYS[5], KEYS[6] }, { KEYS[7], KEYS[8] }, { KEYS[9], KEYS[10] }, { KEYS[11], KEYS[12] } }
local shard = {
  set = KEYS[1],
  distinct = KEYS[3],
  columns = tonumber(ARGV[4]),
  open = open_checkpoints(KEYS[4], sets, ARGV[5], ARGV[6]),
}
local entries, buckets = entries_of(shard, state, KEYS[13]), new_buckets(state, KEYS[13], KEYS, 14)
if not entries or not buckets then
  lose(KEYS[2])
  return { 0, 0, 'lost' }
end
local plain = shard.columns < 0 and not shard.open[1] and plain_entries(shard.set)

local changes = cmsgpack.unpack(ARGV[7])
for at = 1, #changes, 4 do
  local bucket, player, value, score = KEYS[changes[at]], changes[at + 1], changes[at + 2], changes[at + 3]
  -- First what can be refused for want of memory: a removal alone would leave the index wrong.
  local known = put_new(bucket, player, value)
  if not known or version_of(known) < version_of(value) then
    local was_there, is_there = known and is_entry(known), is_entry(value)
    if known then redis.call('HSET', bucket, player, value) end
    newer = newer + 1
    if was_there or is_there then changed = changed + 1 end
    if plain then
      plain.replace(was_there and member_of(known, player), is_there and member_of(value, player), score)
    elseif not (known and has_same_key(known, value)) then
      local new = is_there and { member = member_of(value, player), score = score, value = value }
      replace_entry(shard, was_there and entry_of(known, player), new)
    end
  end
end
if plain then plain.write() end
expire_checkpoints(shard.open)
note_buckets(KEYS[13], buckets)
note_set(shard, entries, KEYS[13])

local expiry_of_shard = redis.call('PEXPIRETIME', KEYS[2])
-- What is brought back and known already may be all that the log brought of many changes that were lost.
if changed > 0 or ARGV[3] == '1' or not state then count_changes(KEYS[2], KEYS[13], ARGV[2], ARGV[3], changed) end
local kept = {}
if ARGV[1] ~= '' then
  for at, key in ipairs(KEYS) do
    if at <= 3 or at > 12 then kept[#kept + 1] = key end
  end
end
return { newer, keep_keys(kept, expiry_of_shard, ARGV[1]) }
