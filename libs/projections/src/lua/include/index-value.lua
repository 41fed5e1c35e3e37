-- An index value is a byte with two halves, how many bytes the score has (15: it is a removal, and there is nothing
-- behind the version) and how many the version has, 8 more where the member has a tail; the version; the score without the
-- zero bytes at its end; the tail, whose second byte says how many it has beside six; the member before the player id.

local function is_entry(value)
  return string.byte(value) < 240
end

-- For each number of bytes: to make the text anew for each value would cost as much as what it says.
local number_formats = { '>I1', '>I2', '>I3', '>I4', '>I5', '>I6', '>I7' }

local function version_of(value)
  return (struct.unpack(number_formats[string.byte(value) % 8], value, 2))
end

-- The value's first byte and version, as the index value of a removal has them.
local function version_part(value)
  local version_bytes = string.byte(value) % 8
  return string.char(240 + version_bytes) .. string.sub(value, 2, 1 + version_bytes)
end

-- Whether an index value is of a version, which is given as the index value of a removal has it.
local function has_version(value, removal)
  return string.byte(value) % 8 == #removal - 1 and string.sub(value, 2, #removal) == string.sub(removal, 2)
end

-- Where the score begins, where the tail does, and where the member does.
local function parts_from(value)
  local head = string.byte(value)
  local score_from = 2 + head % 8
  local tail_from = score_from + (head - head % 16) / 16
  if head % 16 < 8 then return score_from, tail_from, tail_from end
  return score_from, tail_from, tail_from + 6 + string.byte(value, tail_from + 1)
end

-- The member before the player id.
local function prefix_of(value)
  local _, _, prefix_from = parts_from(value)
  return string.sub(value, prefix_from)
end

-- The player's member.
local function member_of(value, player)
  local _, tail_from, prefix_from = parts_from(value)
  if tail_from == prefix_from then return string.sub(value, prefix_from) .. player end
  return string.sub(value, prefix_from) .. player .. string.sub(value, tail_from, prefix_from - 1)
end

-- The score as 8 bytes.
local function score_bytes(value)
  local score_from, tail_from = parts_from(value)
  return string.sub(value, score_from, tail_from - 1) .. string.rep('\0', 8 - (tail_from - score_from))
end

-- The score in digits: 17 of them are read back as the very same double.
local function score_of(value)
  return string.format('%.17g', (struct.unpack('>d', score_bytes(value))))
end

-- The index value of the same member with another score, a double.
local function with_score(value, score)
  local head = string.byte(value)
  local score_from, tail_from = parts_from(value)
  local version = string.sub(value, 2, score_from - 1)
  return string.char(128 + head % 16) .. version .. struct.pack('>d', score) .. string.sub(value, tail_from)
end

-- Whether two index values say the same of score and member, or both that there is no entry.
local function has_same_key(a, b)
  local a_from, b_from = parts_from(a), parts_from(b)
  if is_entry(a) ~= is_entry(b) or string.sub(a, a_from) ~= string.sub(b, b_from) then return false end
  return string.byte(a) - string.byte(a) % 8 == string.byte(b) - string.byte(b) % 8
end

-- The index values that stand one behind the other, where members have so many bytes before the player id.
local function values_in(packed, prefix_bytes)
  local values, at = {}, 1
  while at <= #packed do
    local head = string.byte(packed, at)
    local bytes = 1 + head % 8
    if head < 240 then
      bytes = bytes + (head - head % 16) / 16 + prefix_bytes
      if head % 16 >= 8 then bytes = bytes + 6 + string.byte(packed, at + bytes - prefix_bytes + 1) end
    end
    values[#values + 1] = string.sub(packed, at, at + bytes - 1)
    at = at + bytes
  end
  return values
end
