#!lua
-- Takes from a bucket that fills by itself. All amounts are milliseconds of its filling; the key lives until it is full.
-- KEYS[1] the bucket
-- ARGV[1] how long it takes to fill from empty
-- ARGV[2] what is taken in any case
-- ARGV[3] what is wanted beside, as much of it as there is
-- ARGV[4] the least of that; if there is less, none of it is taken
-- returns {what was taken of the wanted, how long it fills now}

local fills = math.max(0, redis.call('PTTL', KEYS[1])) + tonumber(ARGV[2])
local granted = math.max(0, math.min(tonumber(ARGV[3]), tonumber(ARGV[1]) - fills))
if granted < tonumber(ARGV[4]) then granted = 0 end
fills = fills + granted
if granted > 0 or tonumber(ARGV[2]) > 0 then redis.call('SET', KEYS[1], '', 'PX', fills) end
return {granted, fills}
