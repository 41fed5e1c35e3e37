#!lua flags=no-writes
-- Reads from the index of their home where players' entries are.
-- KEYS[1] unfinished changes: player → index values of old places
-- KEYS[2] apply counter of the home
-- KEYS[3] which keys the home has
-- KEYS[4...] index buckets of the players
-- ARGV[1...] two for each player: number of the bucket in KEYS, player id
-- returns for each player { index value or nil, old places, or nil when nothing is unfinished }
-- include parts
-- include shard

local counter, parts = KEYS[2], KEYS[3]
if is_torn(redis.call('GET', counter), parts) or is_lost(parts, unfinished_part, KEYS[1]) then refuse_lost(counter) end
local answer = {}
for at = 1, #ARGV, 2 do
  local player = ARGV[at + 1]
  answer[#answer + 1] = {
    known_of(KEYS[tonumber(ARGV[at])], player, counter, parts),
    redis.call('HGET', KEYS[1], player),
  }
end
return answer
