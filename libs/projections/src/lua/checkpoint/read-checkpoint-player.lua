#!lua flags=no-writes
-- Reads what is known of a player beside a checkpoint.
-- KEYS[1] sorted set
-- KEYS[2] open checkpoints
-- KEYS[3] entries as they were, of players who changed since
-- KEYS[4] what became of them
-- KEYS[5] apply counter
-- KEYS[6] which keys the shard has
-- KEYS[7] index bucket of the player
-- ARGV[1] slot
-- ARGV[2] id
-- ARGV[3] the time, Unix ms
-- ARGV[4] player id
-- returns { what is noted, index value of now or nothing when there is no entry, 1 when it is as it was }; false when the
-- checkpoint is not open
-- include checkpoint
-- include index-value
-- include parts
-- include shard

local note = note_of(KEYS[2], ARGV[1], KEYS[1], KEYS[3], KEYS[4], ARGV[2], ARGV[3])
if not note then return false end
local value = known_of(KEYS[7], ARGV[4], KEYS[5], KEYS[6])
if not value or not is_entry(value) then return { note, '', 0 } end
local is_changed = redis.call('ZSCORE', KEYS[4], member_of(value, ARGV[4]))
return { note, value, is_changed and 0 or 1 }
