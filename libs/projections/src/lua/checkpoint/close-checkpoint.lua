#!lua
-- Closes a checkpoint on one shard before its time, unless another took its slot.
-- KEYS[1] open checkpoints: a hash of slot (0-based) → id/opened/counter/total, a space, when it closes (Unix ms)
-- KEYS[2] entries as they were, of players who changed since
-- KEYS[3] what became of them
-- ARGV[1] slot
-- ARGV[2] id
-- returns 1 when it was open

local note = redis.call('HGET', KEYS[1], ARGV[1])
if not note or string.match(note, '^([^/]+)/') ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('UNLINK', KEYS[2], KEYS[3])
return 1
