#!lua
-- Puts entries into one shard of a list by ranges, and takes others out of it, except where the shard has seen something
-- newer of the player. That it would know is certain only within an epoch: the writer names the one that it knew of
-- before it claimed its changes, and in another nothing is done.
-- KEYS[1] sorted set
-- KEYS[2] apply counter; its expiry is the shard's. It is a word once the shard was retired or lost a key: then
--   nothing changes
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
-- KEYS[13] hash of `crossings`: how many entries came from other shards or went there
-- KEYS[14] entries that are crossing into the shard: player → version, time (Unix ms)
-- KEYS[15] what was written in this epoch: player → version; the field without a name holds the epoch
-- KEYS[16] which keys the shard has
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
-- ARGV[11] the changes, of one player each, an array in MessagePack: four for each, player id, index value (of a removal, or
--   where the entry goes to another shard, the version alone), what is special of it, index values of old places in this
--   shard. Special are letters: p (it is pending until it is acknowledged), u (its coming or going is no crossing)
-- ARGV[12] the name of an epoch that begins now where there is none, or the last has ended
-- returns { the epoch, 1 when all keys of the shard want a later expiry, else 0, a digit for each change: 1, 2 when an
--   entry went from here, or 0 when something newer was there }; the epoch alone when it is another, nothing when the
--   shard was retired, and { lost } when it has lost a key
-- include order
-- include index-value
-- include values
-- include entries
-- include checkpoint
-- include checkpoints
-- include parts
-- include counter
-- include bulk
-- include plain-entries
-- include range-epoch
-- include noted-parts

local counter, crossed, pending, written, parts = KEYS[2], KEYS[13], KEYS[14], KEYS[15], KEYS[16]
local prefix_bytes = tonumber(ARGV[8])

local state = redis.call('GET', counter)
if state == 'retired' then return {} end
if state == 'lost' then return { state } end
local epoch = redis.call('HGET', written, '')
if not epoch or redis.call('HLEN', written) > tonumber(ARGV[9]) then
  epoch = begin_epoch(written, ARGV[12])
end
redis.call('PEXPIRE', written, ARGV[10])
if epoch ~= ARGV[7] then return { epoch } end
local expiry_of_shard = redis.call('PEXPIRETIME', counter)

local sets = { { KEYS[5], KEYS[6] }, { KEYS[7], KEYS[8] }, { KEYS[9], KEYS[10] }, { KEYS[11], KEYS[12] } }
local shard = {
  set = KEYS[1],
  distinct = KEYS[3],
  columns = tonumber(ARGV[4]),
  open = open_checkpoints(KEYS[4], sets, ARGV[5], ARGV[6]),
}

local entries = entries_of(shard, state, parts)
if not entries or is_lost(parts, pending_part, pending) or is_lost(parts, crossings_part, crossed) then
  lose(counter)
  return { 'lost' }
end

local plain = shard.columns < 0 and not shard.open[1] and plain_entries(shard.set)

-- All that is asked of each player is asked at once: nothing that is written for one changes what is there of another.
local changes, players, members = {}, {}, {}
local unpacked = cmsgpack.unpack(ARGV[11])
for at = 1, #unpacked, 4 do
  local player, value, special, places = unpacked[at], unpacked[at + 1], unpacked[at + 2], unpacked[at + 3]
  local change = { player = player, value = value, special = special, version = version_of(value), olds = {} }
  players[#players + 1] = player
  if is_entry(value) then
    change.new = entry_of(value, player)
    members[#members + 1] = change.new.member
  end
  for _, place in ipairs(values_in(places, prefix_bytes)) do
    local old = entry_of(place, player)
    change.olds[#change.olds + 1] = old
    members[#members + 1] = old.member
  end
  changes[#changes + 1] = change
end
local seen, waiting = read_all('HMGET', written, players), read_all('HMGET', pending, players)
local scores = {}
for at, score in ipairs(read_all('ZMSCORE', shard.set, members)) do
  scores[members[at]] = score and tonumber(score)
end

local function replace(old, new)
  if not plain then return replace_entry(shard, old, new) end
  plain.replace(old and old.member, new and new.member, new and new.score)
end

-- Brings what stands of a player in this shard to the entry that is new, if any. Returns how many entries went.
local function bring_to(new, olds)
  local standing = {}
  for _, old in ipairs(olds) do
    -- One whose member the new entry has comes first: the new one takes its place, and is not taken out with it.
    local at = new and old.member == new.member and 1 or #standing + 1
    if scores[old.member] == tonumber(old.score) then table.insert(standing, at, old) end
  end
  local score = new and scores[new.member]
  if score and score ~= tonumber(new.score) and not (standing[1] and standing[1].member == new.member) then
    -- Where its player's index was lost nobody else knows that it stands.
    local value = with_score(new.value, score)
    table.insert(standing, 1, { member = new.member, score = score_of(value), value = value })
  end
  if new and score ~= tonumber(new.score) then
    replace(standing[1], new)
  elseif standing[1] then
    replace(standing[1], nil)
  end
  for at = 2, #standing do
    replace(standing[at], nil)
  end
  return #standing, new and not score
end

local digits = {}
local versions, waits, acknowledged = {}, {}, {}
local changed, crossings = 0, 0
for at, change in ipairs(changes) do
  local player, version, new = change.player, change.version, change.new
  if seen[at] and version_of(seen[at]) > version then
    digits[at] = '0'
  else
    local part = version_part(change.value)
    versions[#versions + 1], versions[#versions + 2] = player, part
    local went, is_added = bring_to(new, change.olds)
    if new or went > 0 then changed = changed + 1 end
    local is_crossing = (went > 0 and not new) or (went == 0 and is_added)
    if is_crossing and not string.find(change.special, 'u', 1, true) then crossings = crossings + 1 end
    if string.find(change.special, 'p', 1, true) then
      waits[#waits + 1], waits[#waits + 2] = player, part .. struct.pack('>d', tonumber(ARGV[5]))
    elseif waiting[at] and version_of(waiting[at]) <= version then
      acknowledged[#acknowledged + 1] = player
    end
    digits[at] = went > 0 and '2' or '1'
  end
end
write_all('HSET', written, versions)
write_all('HSET', pending, waits)
write_all('HDEL', pending, acknowledged)
if plain then plain.write() end
expire_checkpoints(shard.open)
if waits[1] or acknowledged[1] then
  redis.call('SETBIT', parts, pending_part, redis.call('EXISTS', pending))
end
note_set(shard, entries, parts)
if crossings > 0 and redis.call('HINCRBY', crossed, 'crossings', crossings) == crossings then
  redis.call('SETBIT', parts, crossings_part, 1)
end
if changed > 0 or not state then count_changes(counter, parts, ARGV[2], ARGV[3], changed) end
local wants_later = keep_keys({ shard.set, counter, shard.distinct, crossed, pending, parts }, expiry_of_shard, ARGV[1])
return { epoch, wants_later, table.concat(digits) }
