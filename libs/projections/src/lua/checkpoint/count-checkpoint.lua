#!lua flags=no-writes
-- Counts the entries that stood before each of some sort keys as of a checkpoint.
-- KEYS[1] sorted set
-- KEYS[2] open checkpoints
-- KEYS[3] entries as they were, of players who changed since
-- KEYS[4] what became of them
-- ARGV[1] slot
-- ARGV[2] id
-- ARGV[3] the time, Unix ms
-- ARGV[4...] two for each sort key: score, member (or the beginning of one)
-- returns { what is noted, then a count for each sort key }; false when the checkpoint is not open
-- include order
-- include checkpoint
-- include as-of

local set, was, is = KEYS[1], KEYS[3], KEYS[4]
local note = note_of(KEYS[2], ARGV[1], set, was, is, ARGV[2], ARGV[3])
if not note then return false end
local answer = { note }
for at = 4, #ARGV, 2 do
  local unchanged, saved = parts_before_key(set, was, is, ARGV[at], ARGV[at + 1])
  answer[#answer + 1] = unchanged + saved
end
return answer
