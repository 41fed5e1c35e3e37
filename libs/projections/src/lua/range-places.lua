#!lua flags=no-writes
-- Reads from the index of their home where players' entries are.
-- KEYS[1] unfinished changes: player → index values of old places
-- KEYS[2...] index buckets of the players
-- ARGV[1...] two for each player: number of the bucket in KEYS, player id
-- returns for each player { index value or nil, old places, or nil when nothing is unfinished }

local answer = {}
for at = 1, #ARGV, 2 do
  local player = ARGV[at + 1]
  answer[#answer + 1] = {
    redis.call('HGET', KEYS[tonumber(ARGV[at])], player),
    redis.call('HGET', KEYS[1], player),
  }
end
return answer
