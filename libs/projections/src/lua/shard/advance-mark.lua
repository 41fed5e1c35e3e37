#!lua
-- Moves a lane's mark forward, unless it is missing or behind: then changes were lost, and moving it would hide that.
-- KEYS[1] the mark
-- ARGV[1] position that the mark must have reached
-- ARGV[2] position to move it to
-- returns 1 when the mark is at that position or beyond it, else 0

local mark = tonumber(redis.call('GET', KEYS[1]) or '-1')
if mark < tonumber(ARGV[1]) then return 0 end
if mark < tonumber(ARGV[2]) then redis.call('SET', KEYS[1], ARGV[2]) end
return 1
