#!lua flags=allow-oom
-- Moves a shard that has lost a key from one state to the next, unless it is in another one by now.
-- KEYS[1] apply counter
-- KEYS[2] which keys the shard has
-- ARGV[1] the state that it must be in: what its counter says, nothing where there is none; *: any but retired
-- ARGV[2] the state that it goes to: lost, filling and by whom, or where its counter begins
-- ARGV[3] when the counter may go, Unix ms; empty: as before
-- returns 1 when it is in that state now
-- include parts

local counter, parts = KEYS[1], KEYS[2]
local function begins_with(text, word)
  return string.sub(text, 1, #word) == word
end

local state = redis.call('GET', counter) or ''
if state == 'retired' or (ARGV[1] ~= '*' and state ~= ARGV[1]) then return 0 end
-- What was lost while the shard was filled is not there when it is open to readings.
if begins_with(ARGV[1], 'filling') and is_torn(state, parts) then return 0 end
redis.call('SET', counter, ARGV[2], 'KEEPTTL')
if begins_with(ARGV[2], 'filling') then redis.call('SETBIT', parts, counter_part, 1) end
if ARGV[3] ~= '' then
  redis.call('PEXPIREAT', counter, ARGV[3])
  redis.call('PEXPIREAT', parts, ARGV[3])
end
return 1
