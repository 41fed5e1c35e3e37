#!lua
-- Prepares a shard of a list by ranges for entries that come back after a loss: its counter is beyond every value that it
-- can have had, also where nothing comes back to the shard, and what was claimed before the loss is not written any more.
-- KEYS[1] apply counter; its expiry is the shard's. It is a word once the shard was retired or lost a key: then
--   nothing changes
-- KEYS[2] what was written in this epoch: player → version; the field without a name holds the epoch
-- KEYS[3] which keys the shard has
-- ARGV[1] when the keys may go, Unix ms; empty for ever
-- ARGV[2] where a counter begins that is made now
-- ARGV[3] the name of the epoch that begins
-- ARGV[4] after how long without a write an epoch ends, ms
-- returns 1 when all keys of the shard want a later expiry, else 0
-- include parts
-- include counter
-- include range-epoch

local counter, written, parts = KEYS[1], KEYS[2], KEYS[3]
if is_closed(redis.call('GET', counter)) then return 0 end
local expiry_of_shard = redis.call('PEXPIRETIME', counter)
count_changes(counter, parts, ARGV[2], '1', 0)
begin_epoch(written, ARGV[3])
redis.call('PEXPIRE', written, ARGV[4])
return keep_keys({ counter, parts }, expiry_of_shard, ARGV[1])
