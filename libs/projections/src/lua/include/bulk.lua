-- Lua hands over some thousand values at most; an even number, so that pairs stay together.
local values_max = 1000

-- What a command answers for each of many values.
local function read_all(command, key, values)
  local answers = {}
  for at = 1, #values, values_max do
    local some = redis.call(command, key, unpack(values, at, math.min(at + values_max - 1, #values)))
    for _, answer in ipairs(some) do
      answers[#answers + 1] = answer
    end
  end
  return answers
end

-- Has a command work on many values; returns the sum of what it answers.
local function write_all(command, key, values)
  local sum = 0
  for at = 1, #values, values_max do
    sum = sum + redis.call(command, key, unpack(values, at, math.min(at + values_max - 1, #values)))
  end
  return sum
end
