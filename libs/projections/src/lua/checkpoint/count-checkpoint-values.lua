#!lua flags=no-writes
-- Counts the distinct values that stood before one as of a checkpoint: those of now, and what the changes made of them.
-- KEYS[1] sorted set
-- KEYS[2] open checkpoints
-- KEYS[3] entries as they were, of players who changed since
-- KEYS[4] what became of them
-- KEYS[5] distinct values of now
-- KEYS[6] apply counter
-- ARGV[1] slot
-- ARGV[2] id
-- ARGV[3] the time, Unix ms
-- ARGV[4] score
-- ARGV[5] columns: what members of the value begin with
-- ARGV[6] how many changed entries are looked at
-- returns { what is noted, distinct values before; -1 when more entries changed }; false when the checkpoint is not open
-- include order
-- include checkpoint
-- include as-of
-- include parts
-- include shard

local set, was, is, distinct = KEYS[1], KEYS[3], KEYS[4], KEYS[5]
local note = note_of(KEYS[2], ARGV[1], set, was, is, ARGV[2], ARGV[3])
if not note then return false end
assert_values(redis.call('ZCARD', set), distinct, KEYS[6])
local score, columns = ARGV[4], ARGV[5]

-- No time and no id reach eight bytes of 0xff: with them a key stands behind every entry of the value.
local BEHIND = string.rep('\255', 8)

local function packed(of_score, of_columns)
  return struct.pack('>d', tonumber(of_score)) .. of_columns
end

-- How many more entries of a value the list had as of the checkpoint than none: 1, or 0.
local function stood(of_score, of_columns)
  local unchanged, saved = parts_before_key(set, was, is, of_score, of_columns)
  local unchanged_through, saved_through = parts_before_key(set, was, is, of_score, of_columns .. BEHIND)
  return (unchanged_through + saved_through > unchanged + saved) and 1 or 0
end

local changed = { [was] = count_better(was, score, columns), [is] = count_better(is, score, columns) }
if changed[was] + changed[is] > tonumber(ARGV[6]) then return { note, -1 } end

local before, seen = count_better(distinct, score, packed(score, columns)), {}
for key, count in pairs(changed) do
  local rows = count > 0 and redis.call('ZRANGE', key, 0, count - 1, 'WITHSCORES') or {}
  for at = 1, #rows, 2 do
    local of_score, of_columns = rows[at + 1], string.sub(rows[at], 1, #columns)
    local value = packed(of_score, of_columns)
    if not seen[value] then
      seen[value] = true
      before = before + stood(of_score, of_columns) - (redis.call('ZSCORE', distinct, value) and 1 or 0)
    end
  end
end
return { note, before }
