#!lua
-- Gives keys of one shard a later expiry.
-- KEYS[1...] the keys
-- ARGV[1] when they may go, Unix ms
-- returns how many of them exist

local extended = 0
for _, key in ipairs(KEYS) do
  extended = extended + redis.call('PEXPIREAT', key, ARGV[1], 'GT')
end
return extended
