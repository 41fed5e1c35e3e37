-- Begins an epoch of a shard of a list by ranges, by a name that no other ever had: what was written before is forgotten,
-- and whoever claimed changes before claims them anew. Returns its name.
local function begin_epoch(written, name)
  redis.call('UNLINK', written)
  redis.call('HSET', written, '', name)
  return name
end
