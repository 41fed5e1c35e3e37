#!lua
-- Opens a checkpoint on one shard: what changes from now on is saved. A list's first shard chooses the slot: one that was
-- opened a moment ago is shared. Where all slots are taken, the oldest of those that nobody has read for a while is
-- replaced for who shares none, else the newest is shared. The other shards follow, and know one that they have. What a
-- slot held before is cleared.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3] open checkpoints: a hash of slot (0-based) → id/opened/counter/total, a space, when it closes (Unix ms)
-- KEYS[4] checkpoint 0: entries as they were
-- KEYS[5] checkpoint 0: what became of them
-- KEYS[6] checkpoint 1: entries as they were
-- KEYS[7] checkpoint 1: what became of them
-- KEYS[8] checkpoint 2: entries as they were
-- KEYS[9] checkpoint 2: what became of them
-- KEYS[10] checkpoint 3: entries as they were
-- KEYS[11] checkpoint 3: what became of them
-- KEYS[12] checkpoint 0: its id, while somebody reads it
-- KEYS[13] checkpoint 1: its id, while somebody reads it
-- KEYS[14] checkpoint 2: its id, while somebody reads it
-- KEYS[15] checkpoint 3: its id, while somebody reads it
-- KEYS[16] which keys the shard has
-- ARGV[1] id
-- ARGV[2] when the first shard opened it, Unix ms
-- ARGV[3] when it closes, Unix ms
-- ARGV[4] slot that the first shard chose; empty: this is the first
-- ARGV[5] what was opened since is shared, Unix ms; beyond ARGV[2]: nothing, but the last free slots are kept for who shares
-- ARGV[6] what was opened since is not replaced, Unix ms
-- returns { slot, what is noted of the checkpoint in it }
-- include parts
-- include shard
-- include checkpoint

local set, checkpoints = KEYS[1], KEYS[3]
local total, counter = reading_of(set, KEYS[2], KEYS[16])
local sets = { [0] = { KEYS[4], KEYS[5] }, { KEYS[6], KEYS[7] }, { KEYS[8], KEYS[9] }, { KEYS[10], KEYS[11] } }
local reads = { [0] = KEYS[12], KEYS[13], KEYS[14], KEYS[15] }
local opened, closes = tonumber(ARGV[2]), tonumber(ARGV[3])

-- The checkpoint in a slot, nil where it is free.
local function held(slot)
  local note = redis.call('HGET', checkpoints, slot)
  local id, since = string.match(note or '', '^([^/]+)/(%d+)')
  local is_open = id and note_of(checkpoints, slot, set, sets[slot][1], sets[slot][2], id, opened)
  return is_open and { id = id, opened = tonumber(since), note = note } or nil
end

local slot = tonumber(ARGV[4])
if slot then
  local one = held(slot)
  if one and (one.id == ARGV[1] or one.opened > opened) then return { slot, one.note } end
else
  local newest, unread
  local free = 0
  for candidate = 3, 0, -1 do
    local one = held(candidate)
    if not one then
      slot = candidate
      free = free + 1
    else
      one.slot = candidate
      if not newest or one.opened > newest.opened then newest = one end
      local is_left = one.opened <= tonumber(ARGV[6]) and redis.call('GET', reads[candidate]) ~= one.id
      if is_left and (not unread or one.opened < unread.opened) then unread = one end
    end
  end
  local shared_since = tonumber(ARGV[5])
  local shares = shared_since <= opened
  local is_crowded = free < (shares and 1 or 2)
  if is_crowded and unread and not shares then
    slot = unread.slot
  elseif newest and (newest.opened >= shared_since or is_crowded) then
    return { newest.slot, newest.note }
  end
end

redis.call('UNLINK', sets[slot][1], sets[slot][2])
local note = string.format('%s/%d/%d/%d %d', ARGV[1], opened, counter, total, closes)
redis.call('HSET', checkpoints, slot, note)
local at = goes_at(closes)
if redis.call('PEXPIRETIME', checkpoints) < tonumber(at) then redis.call('PEXPIREAT', checkpoints, at) end
return { slot, note }
