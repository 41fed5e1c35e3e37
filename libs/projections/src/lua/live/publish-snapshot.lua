#!lua
-- Publishes the next snapshot of a list, when the last one is still the one it was made from, and says so on a channel.
-- KEYS[1] snapshot (hash of seq, json and the last number taken)
-- KEYS[2] stream of deltas
-- ARGV[1] seq that must be stored; empty: none
-- ARGV[2] seq of the new snapshot
-- ARGV[3] the snapshot, JSON
-- ARGV[4] the delta, JSON; empty: a new history begins
-- ARGV[5] how many deltas are kept
-- ARGV[6] how long both are kept, ms
-- ARGV[7] the channel
-- ARGV[8] what is said there
-- returns 1 when it was written, else 0; what Redis said where it was written and could not be told

local stored = redis.call('HGET', KEYS[1], 'seq')
if (stored or '') ~= ARGV[1] then return 0 end
if stored and tonumber(ARGV[2]) <= tonumber(stored) then return 0 end
redis.call('HSET', KEYS[1], 'seq', ARGV[2], 'json', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
if ARGV[4] == '' then
  redis.call('DEL', KEYS[2])
else
  redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[5], ARGV[2] .. '-0', 'json', ARGV[4])
  redis.call('PEXPIRE', KEYS[2], ARGV[6])
end
local told = redis.pcall('PUBLISH', ARGV[7], ARGV[8])
if type(told) == 'table' and told.err then return told.err end
return 1
