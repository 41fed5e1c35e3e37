#!lua flags=no-writes
-- Reads what the index knows of several players, in their own shard.
-- KEYS[1...] index buckets of the players
-- ARGV[1...] two for each player: number of the bucket in KEYS, player id
-- returns for each player nil or the index value

local answer = {}
for at = 1, #ARGV, 2 do
  answer[#answer + 1] = redis.call('HGET', KEYS[tonumber(ARGV[at])], ARGV[at + 1])
end
return answer
