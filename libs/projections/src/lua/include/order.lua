-- Whether a stands before b, byte by byte as sorted sets do; Lua's own < follows the server's locale.
local function stands_before(a, b)
  if a == b then return false end
  local shorter = math.min(#a, #b)
  for at = 1, shorter do
    local x, y = string.byte(a, at), string.byte(b, at)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- How many entries of the set stand before a sort key: at most 64 looks into the group of its score, never a scan.
local function count_better(set, score, member)
  local low = redis.call('ZCOUNT', set, '-inf', '(' .. score)
  if member == '' then return low end
  local high = redis.call('ZCOUNT', set, '-inf', score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local found = redis.call('ZRANGE', set, middle, middle)[1]
    if stands_before(found, member) then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end
