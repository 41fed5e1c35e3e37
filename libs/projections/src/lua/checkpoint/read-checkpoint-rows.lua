#!lua flags=no-writes
-- Reads a run of entries as of a checkpoint, from a cut through the list.
-- KEYS[1] sorted set
-- KEYS[2] open checkpoints
-- KEYS[3] entries as they were, of players who changed since
-- KEYS[4] what became of them
-- ARGV[1] slot
-- ARGV[2] id
-- ARGV[3] the time, Unix ms
-- ARGV[4] 1: the entries after the cut, the nearest first; -1: those before it, the nearest first
-- ARGV[5] how many entries the cut is behind; empty: it is at the sort key
-- ARGV[6] score
-- ARGV[7] member
-- ARGV[8] 1: the cut is behind the entry with this very key; 0: before it
-- ARGV[9] how many entries
-- ARGV[10] how many entries of the set are looked at
-- returns { what is noted, entries before the cut, unchanged rows, saved rows, row up to which was looked, or none when
-- there was enough or nothing left }; false when the checkpoint is not open
-- include order
-- include rows
-- include checkpoint
-- include as-of

local CHUNK = math.min(100, tonumber(ARGV[10]))
local set, was, is = KEYS[1], KEYS[3], KEYS[4]
local note = note_of(KEYS[2], ARGV[1], set, was, is, ARGV[2], ARGV[3])
if not note then return false end

local step, limit = tonumber(ARGV[4]), tonumber(ARGV[9])
local unchanged, saved
if ARGV[5] ~= '' then
  unchanged, saved = parts_before_index(set, was, is, tonumber(ARGV[5]))
else
  local score, member = ARGV[6], ARGV[7]
  unchanged, saved = parts_before_key(set, was, is, score, member)
  if ARGV[8] == '1' then
    local function holds(key)
      local known = redis.call('ZSCORE', key, member)
      return known and tonumber(known) == tonumber(score)
    end
    if holds(was) then saved = saved + 1 end
    if holds(set) and not redis.call('ZSCORE', is, member) then unchanged = unchanged + 1 end
  end
end

local rows, looked, stop = {}, 0, {}
local number = step > 0 and unchanged or unchanged - 1
local index = nil
while #rows < 2 * limit do
  -- A run of changed entries is not walked through: what stands behind it is found by counting.
  index = index or index_of_unchanged(set, is, number)
  if not index or index < 0 then break end
  local first = step > 0 and index or math.max(0, index - CHUNK + 1)
  local last = step > 0 and index + CHUNK - 1 or index
  local chunk = redis.call('ZRANGE', set, first, last, 'WITHSCORES')
  if #chunk == 0 then break end
  local found = 0
  for at = 1, #chunk, 2 do
    local row = step > 0 and at or #chunk - at
    if not redis.call('ZSCORE', is, chunk[row]) then
      rows[#rows + 1], rows[#rows + 2] = chunk[row], chunk[row + 1]
      found = found + 1
      if #rows == 2 * limit then break end
    end
  end
  looked = looked + #chunk / 2
  if looked >= tonumber(ARGV[10]) and #rows < 2 * limit then
    local row = step > 0 and #chunk - 1 or 1
    stop = { chunk[row], chunk[row + 1] }
    break
  end
  number = number + step * found
  if found == 0 then
    index = nil
  else
    index = step > 0 and last + 1 or first - 1
  end
end

local first_saved = step > 0 and saved or saved - limit
local saved_rows = rows_between(was, first_saved, first_saved + limit - 1)
return { note, unchanged + saved, rows, saved_rows, stop }
