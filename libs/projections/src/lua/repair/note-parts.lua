#!lua
-- Notes that a shard has its set and some of its keys, where nobody did: an earlier release wrote it, or the note was lost.
-- KEYS[1] sorted set
-- KEYS[2] which keys the shard has
-- KEYS[3] apply counter; its expiry is the shard's
-- KEYS[4...] index buckets
-- ARGV[1] 1: these are the last
-- returns 1
-- include parts

for at = 4, #KEYS do
  if redis.call('EXISTS', KEYS[at]) == 1 then redis.call('SETBIT', KEYS[2], part_of(KEYS[at]), 1) end
end
if ARGV[1] == '1' then redis.call('SETBIT', KEYS[2], set_part, redis.call('EXISTS', KEYS[1])) end
local expiry_of_shard = redis.call('PEXPIRETIME', KEYS[3])
if expiry_of_shard > 0 then redis.call('PEXPIREAT', KEYS[2], string.format('%d', expiry_of_shard)) end
return 1
