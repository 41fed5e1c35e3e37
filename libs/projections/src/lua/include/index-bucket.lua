-- Batches are mostly all new or all known: after a new player, HSETNX is tried first. A miss costs as much as a write.
local was_new = false

-- Puts the index value of a player where none is. Returns the one that is there, and stays; false where there was none.
local function put_new(bucket, player, value)
  if was_new then
    was_new = redis.call('HSETNX', bucket, player, value) == 1
    return not was_new and redis.call('HGET', bucket, player)
  end
  local known = redis.call('HGET', bucket, player)
  was_new = not known
  if was_new then redis.call('HSET', bucket, player, value) end
  return known
end
