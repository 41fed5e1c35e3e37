-- Where one player was new the next may be, too: to look for what is not there takes as long as to write it.
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
