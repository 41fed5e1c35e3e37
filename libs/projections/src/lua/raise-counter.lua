#!lua
-- Has the counter of a shard whose Redis may have lost changes be beyond every value that it can have had, also where
-- nothing comes back to the shard.
-- KEYS[1] apply counter; its expiry is the shard's. It is no number once the shard was retired: then nothing changes
-- ARGV[1] when the keys may go, Unix ms; empty for ever
-- ARGV[2] where a counter begins that is made now
-- returns 1 when all keys of the shard want a later expiry, else 0
-- include counter

local counter = KEYS[1]
if is_retired(counter) then return 0 end
local expiry_of_shard = redis.call('PEXPIRETIME', counter)
count_changes(counter, ARGV[2], '1', 0)
return keep_keys({ counter }, expiry_of_shard, ARGV[1])
