#!lua
-- Puts entries of players who have no old places into one shard of a list by ranges, where they come back after a loss and
-- nothing else has been written in this epoch: then nothing that the shard knows can be newer. Nor is it noted that they
-- were put: whoever claimed something older did so in another epoch, or it was noted then.
-- KEYS[1] sorted set
-- KEYS[2] apply counter; its expiry is the shard's. It is no number once the shard was retired: then nothing changes
-- KEYS[3] open checkpoints
-- KEYS[4] entries that are crossing into the shard
-- KEYS[5] what was written in this epoch: player → version; the field without a name holds the epoch
-- ARGV[1] when the keys may go, Unix ms; empty for ever
-- ARGV[2] where a new counter begins
-- ARGV[3] the epoch that the writer knows
-- ARGV[4] after how long without a write an epoch ends, ms
-- ARGV[5] the entries, an array in MessagePack: two for each, score and member
-- ARGV[6] the name of an epoch that begins now where there is none
-- returns { what became of them, the epoch, 1 when all keys of the shard want a later expiry, else 0 }: put, epoch (it is
--   another, and nothing was put), busy (something else was written, or a checkpoint is open, and nothing was put) or
--   retired
-- include counter
-- include bulk
-- include range-epoch

local set, counter, pending, written = KEYS[1], KEYS[2], KEYS[4], KEYS[5]
if is_retired(counter) then return { 'retired', '', 0 } end
local epoch = redis.call('HGET', written, '') or begin_epoch(written, ARGV[6])
redis.call('PEXPIRE', written, ARGV[4])
if epoch ~= ARGV[3] then return { 'epoch', epoch, 0 } end
local is_quiet = redis.call('HLEN', written) == 1
  and redis.call('EXISTS', KEYS[3]) == 0
  and redis.call('EXISTS', pending) == 0
if not is_quiet then return { 'busy', epoch, 0 } end

local added = write_all('ZADD', set, cmsgpack.unpack(ARGV[5]))
local expiry_of_shard = redis.call('PEXPIRETIME', counter)
count_changes(counter, ARGV[2], '1', added)
return { 'put', epoch, keep_keys({ set, counter }, expiry_of_shard, ARGV[1]) }
