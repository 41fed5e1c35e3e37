#!lua flags=no-writes
-- Reads the entries of several players in their own shard.
-- KEYS[1] sorted set
-- KEYS[2] apply counter
-- KEYS[3...] index buckets of the players
-- ARGV[1] how many bytes of a member are columns, to count what is strictly better than each entry; -1: do not
-- ARGV[2...] two for each player: number of the bucket in KEYS, player id
-- returns { total, counter, then for each player nil or { 0-based index, index value, strictly better or -1 } }
-- include order
-- include shard

local total, counter = reading_of(KEYS[1], KEYS[2])
local answer = { total, counter }
local columns = tonumber(ARGV[1])
for at = 2, #ARGV, 2 do
  local player = ARGV[at + 1]
  local value = redis.call('HGET', KEYS[tonumber(ARGV[at])], player)
  local index = value and #value > 8 and redis.call('ZRANK', KEYS[1], string.sub(value, 17) .. player)
  local better = -1
  if index and columns >= 0 then
    -- 17 digits are read back as the very same double.
    local score = string.format('%.17g', (struct.unpack('>d', value, 9)))
    better = count_better(KEYS[1], score, string.sub(value, 17, 16 + columns))
  end
  answer[#answer + 1] = index and { index, value, better } or false
end
return answer
