#!lua
-- Takes changes into the index of their players' home, the first step of each; older ones than what is there are not
-- taken. What is begun so is unfinished until it is settled: old places are remembered until then.
-- KEYS[1] apply counter of the home; its expiry is the shard's. It is no number once the list was retired: then nothing
--   is taken
-- KEYS[2] unfinished changes: player → index values of the places where its entry may still stand, oldest first
-- KEYS[3...] index buckets of the changes
-- ARGV[1] when the keys may go, Unix ms; empty for ever
-- ARGV[2] where a new counter begins
-- ARGV[3] 1: a finished change that is repeated is begun once more
-- ARGV[4] how many bytes a member has without the player id
-- ARGV[5] the most old places of a player
-- ARGV[6...] three for each change: number of the bucket in KEYS, player id, index value
-- returns { 1 when all keys of the home want a later expiry, else 0, then, unless it was retired, for each change { what became of it, index
--   value now, old places } }: 'first' (of its player), 'newer', 'unfinished' (begun before), 'finished' (before),
--   'older' (than what is there) or 'full' (what is there has to be finished first)
-- include index-value
-- include counter

local counter, unfinished = KEYS[1], KEYS[2]
local prefix_bytes = tonumber(ARGV[4])
local answer = { 0 }
if is_retired(counter) then return answer end

-- The places without those that have the same key as an index value.
local function places_beside(places, value)
  local kept = {}
  for _, place in ipairs(places) do
    if not has_same_key(place, value) then kept[#kept + 1] = place end
  end
  return kept
end

local function claim(bucket, player, value)
  local known = redis.call('HGET', bucket, player)
  local places = redis.call('HGET', unfinished, player)
  if known then
    local version, given = version_of(known), version_of(value)
    if version > given then return { 'older', known, '' } end
    if version == given and places then return { 'unfinished', known, places } end
    if version == given then
      if ARGV[3] ~= '1' then return { 'finished', known, '' } end
      redis.call('HSET', unfinished, player, '')
      return { 'unfinished', known, '' }
    end
  end
  local left = values_in(places or '', prefix_bytes)
  if known and is_entry(known) then
    left = places_beside(left, known)
    left[#left + 1] = known
  end
  left = places_beside(left, value)
  if #left > tonumber(ARGV[5]) then return { 'full', known, places } end
  redis.call('HSET', unfinished, player, table.concat(left))
  redis.call('HSET', bucket, player, value)
  return { known and 'newer' or 'first', value, table.concat(left) }
end

for at = 6, #ARGV, 3 do
  answer[#answer + 1] = claim(KEYS[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2])
end
if ARGV[1] ~= '' then
  local expiry_of_shard = redis.call('PEXPIRETIME', counter)
  count_changes(counter, ARGV[2], '0', 0)
  answer[1] = keep_keys(KEYS, expiry_of_shard, ARGV[1])
end
return answer
