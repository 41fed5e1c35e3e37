#!lua
-- Takes changes into the index of their players' home, the first step of each; older ones than what is there are not
-- taken. What is begun so is unfinished until it is settled: old places are remembered until then. Of what comes back
-- after a loss, and leaves no old places, nothing is remembered: whoever brings it back begins again when that fails.
-- KEYS[1] apply counter of the home; its expiry is the shard's. It is a word once the list was retired or the home lost a
--   key: then nothing is taken
-- KEYS[2] unfinished changes: player → index values of the places where its entry may still stand, oldest first
-- KEYS[3] which keys the home has
-- KEYS[4...] index buckets of the changes
-- ARGV[1] when the keys may go, Unix ms; empty for ever
-- ARGV[2] where a new counter begins
-- ARGV[3] 1: changes come back after a loss
-- ARGV[4] how many bytes a member has without the player id
-- ARGV[5] the most old places of a player
-- ARGV[6] the changes, of one player each, an array in MessagePack: three for each, number of the bucket in KEYS, player id,
-- index value
-- returns { 1 when all keys of the home want a later expiry, 0 when they do not, -1 when it has lost a key, then, unless
--   nothing is taken, a letter for each change
--   that says what became of it, then for those of n, u, d and l the index value now and the old places, as one text }:
--   f (first of its player), n (newer), u (unfinished: begun before), d (done before), o (older than what is there) or
--   l (the list of old places is full: what is there has to be finished first)
-- include index-value
-- include index-bucket
-- include bulk
-- include parts
-- include counter
-- include noted-parts

local counter, unfinished, parts = KEYS[1], KEYS[2], KEYS[3]
local prefix_bytes = tonumber(ARGV[4])
local state = redis.call('GET', counter)
if is_closed(state) then return { state == 'lost' and -1 or 0 } end
local buckets = new_buckets(state, parts, KEYS, 4)
if not buckets or is_torn(state, parts) or is_lost(parts, unfinished_part, unfinished) then
  lose(counter)
  return { -1 }
end

-- The places without those that have the same key as an index value.
local function places_beside(places, value)
  local kept = {}
  for _, place in ipairs(places) do
    if not has_same_key(place, value) then kept[#kept + 1] = place end
  end
  return kept
end

local changes = cmsgpack.unpack(ARGV[6])
local players = {}
for at = 2, #changes, 3 do
  players[#players + 1] = changes[at]
end
local places_of = read_all('HMGET', unfinished, players)
local begun = {}
local letters, answer = {}, { 0, '' }

local function begin(player, places)
  begun[#begun + 1], begun[#begun + 2] = player, places
end

-- Returns what became of a change and, where that is not plain, the index value now and the old places.
local function claim(bucket, player, value, places)
  local known = put_new(bucket, player, value)
  if not known then
    if not places then
      if ARGV[3] ~= '1' then begin(player, '') end
      return 'f'
    end
    local left = table.concat(places_beside(values_in(places, prefix_bytes), value))
    begin(player, left)
    return 'n', value, left
  end
  local version, given = version_of(known), version_of(value)
  if version > given then return 'o' end
  if version == given and places then return 'u', known, places end
  if version == given then return 'd', known, '' end
  local left = values_in(places or '', prefix_bytes)
  if is_entry(known) then
    left = places_beside(left, known)
    left[#left + 1] = known
  end
  left = places_beside(left, value)
  if #left > tonumber(ARGV[5]) then return 'l', known, places end
  begin(player, table.concat(left))
  redis.call('HSET', bucket, player, value)
  return 'n', value, table.concat(left)
end

for at = 1, #changes, 3 do
  local player = changes[at + 1]
  local letter, value, places = claim(KEYS[changes[at]], player, changes[at + 2], places_of[(at + 2) / 3])
  letters[#letters + 1] = letter
  if value then answer[#answer + 1], answer[#answer + 2] = value, places end
end
write_all('HSET', unfinished, begun)
if begun[1] then redis.call('SETBIT', parts, unfinished_part, 1) end
note_buckets(parts, buckets)

answer[2] = table.concat(letters)
if not state then count_changes(counter, parts, ARGV[2], '0', 0) end
if ARGV[1] ~= '' then answer[1] = keep_keys(KEYS, redis.call('PEXPIRETIME', counter), ARGV[1]) end
return answer
