#!lua
-- Takes a number that nobody else gets for a list, greater than every one taken before.
-- KEYS[1] snapshot (hash of seq, json and the last number taken)
-- ARGV[1] the least that it may be
-- ARGV[2] how long it is kept, ms
-- returns the number

local taken = tonumber(redis.call('HGET', KEYS[1], 'taken') or 0)
local number = math.max(taken + 1, tonumber(ARGV[1]))
redis.call('HSET', KEYS[1], 'taken', string.format('%.0f', number))
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return number
