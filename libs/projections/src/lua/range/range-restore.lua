#!lua
-- Puts entries of players who have no old places into one shard of a list by ranges, where they come back after a loss and
-- nothing else has been written in this epoch: then nothing that the shard knows can be newer. Nor is it noted that they
-- were put: whoever claimed something older did so in another epoch, or it was noted then.
-- KEYS[1] sorted set
-- KEYS[2] apply counter; its expiry is the shard's. It is a word once the shard was retired or lost a key: then
--   nothing changes
-- KEYS[3] open checkpoints
-- KEYS[4] entries that are crossing into the shard
-- KEYS[5] what was written in this epoch: player → version; the field without a name holds the epoch
-- KEYS[6] which keys the shard has
-- ARGV[1] when the keys may go, Unix ms; empty for ever
-- ARGV[2] where a new counter begins
-- ARGV[3] the epoch that the writer knows
-- ARGV[4] after how long without a write an epoch ends, ms
-- ARGV[5] the entries, an array in MessagePack: two for each, score and member
-- ARGV[6] the name of an epoch that begins now where there is none
-- returns { what became of them, the epoch, 1 when all keys of the shard want a later expiry, else 0 }: put, epoch (it is
--   another, and nothing was put), busy (something else was written, or a checkpoint is open, and nothing was put) retired or
--   lost (it has lost a key)
-- include parts
-- include counter
-- include bulk
-- include range-epoch
-- include noted-parts

local set, counter, pending, written, parts = KEYS[1], KEYS[2], KEYS[4], KEYS[5], KEYS[6]
local state = redis.call('GET', counter)
if is_closed(state) then return { state, '', 0 } end
local shard = { set = set, columns = -1 }
local entries = entries_of(shard, state, parts)
if not entries or is_lost(parts, pending_part, pending) then
  lose(counter)
  return { 'lost', '', 0 }
end
local epoch = redis.call('HGET', written, '') or begin_epoch(written, ARGV[6])
redis.call('PEXPIRE', written, ARGV[4])
if epoch ~= ARGV[3] then return { 'epoch', epoch, 0 } end
local is_quiet = redis.call('HLEN', written) == 1
  and redis.call('EXISTS', KEYS[3]) == 0
  and redis.call('EXISTS', pending) == 0
if not is_quiet then return { 'busy', epoch, 0 } end

local added = write_all('ZADD', set, cmsgpack.unpack(ARGV[5]))
note_set(shard, entries, parts)
local expiry_of_shard = redis.call('PEXPIRETIME', counter)
count_changes(counter, parts, ARGV[2], '1', added)
return { 'put', epoch, keep_keys({ set, counter, parts }, expiry_of_shard, ARGV[1]) }
