-- When the keys of a checkpoint go: a while after it closed, because Redis expires them by a clock of its own, and one
-- whose changes are gone would read as if there had been none.
local function goes_at(closes)
  return string.format('%d', tonumber(closes) + 60000)
end

-- What a shard noted of the checkpoint in a slot; nil unless it is of this id, open at the time, and all of it is there.
local function note_of(checkpoints, slot, set, was, is, id, now)
  local note = redis.call('HGET', checkpoints, slot)
  if not note then return nil end
  local known, total, closes = string.match(note, '^([^/]+)/%d+/%d+/(%d+) (%d+)$')
  if known ~= id or tonumber(closes) <= tonumber(now) then return nil end
  local entries = redis.call('ZCARD', set) - redis.call('ZCARD', is) + redis.call('ZCARD', was)
  return entries == tonumber(total) and note or nil
end
