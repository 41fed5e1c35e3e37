-- Collects what becomes of members of a sorted set where nothing else tells of them, to write it in few commands.
local function plain_entries(set)
  local put, taken = {}, {}

  local function replace(old, new, score)
    if old and old ~= new then taken[old] = true end
    if new then
      put[#put + 1], put[#put + 2] = score, new
      taken[new] = nil
    end
  end

  local function write()
    write_all('ZADD', set, put)
    local members = {}
    for member in pairs(taken) do
      members[#members + 1] = member
    end
    write_all('ZREM', set, members)
  end

  return { replace = replace, write = write }
end
