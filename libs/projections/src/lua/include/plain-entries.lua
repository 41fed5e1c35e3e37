-- Collects what becomes of members of a sorted set where nothing else tells of them, to write it in few commands.
local function plain_entries(set)
  local put, taken = {}, {}
  -- Lua hands over some thousand values at most.
  local values_max = 1000

  local function replace(old, new, score)
    if old and old ~= new then taken[old] = true end
    if new then
      put[#put + 1], put[#put + 2] = score, new
      taken[new] = nil
    end
  end

  local function write()
    for at = 1, #put, values_max do
      redis.call('ZADD', set, unpack(put, at, math.min(at + values_max - 1, #put)))
    end
    local members = {}
    for member in pairs(taken) do
      members[#members + 1] = member
    end
    for at = 1, #members, values_max do
      redis.call('ZREM', set, unpack(members, at, math.min(at + values_max - 1, #members)))
    end
  end

  return { replace = replace, write = write }
end
