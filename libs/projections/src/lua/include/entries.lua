-- The entry that an index value says a player has.
local function entry_of(index_value, player)
  return { member = member_of(index_value, player), score = score_of(index_value), value = index_value }
end

-- Puts an entry into a shard, takes one out of it (new is nil), or has one stand for another: in the set, among the
-- distinct values, and in what the checkpoints remember. An old entry must be there, and a new one must not.
local function replace_entry(shard, old, new)
  local set, distinct, columns = shard.set, shard.distinct, shard.columns
  for _, checkpoint in ipairs(shard.open) do
    if old and redis.call('ZREM', checkpoint.is, old.member) == 0 then
      redis.call('ZADD', checkpoint.was, old.score, old.member)
    end
    if new then redis.call('ZADD', checkpoint.is, new.score, new.member) end
  end
  if new then redis.call('ZADD', set, new.score, new.member) end
  if old and not (new and old.member == new.member) then redis.call('ZREM', set, old.member) end
  if columns >= 0 then
    if new then redis.call('ZADD', distinct, new.score, distinct_value(new.value, columns)) end
    if old and not holds_value(set, old.score, string.sub(prefix_of(old.value), 1, columns)) then
      redis.call('ZREM', distinct, distinct_value(old.value, columns))
    end
  end
end
