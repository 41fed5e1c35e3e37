#!lua flags=allow-oom
-- Moves a shard that has lost a key from one state to the next, unless it is in another one by now.
-- KEYS[1] apply counter
-- ARGV[1] the state that it must be in: what its counter says, nothing where there is none; *: any but retired
-- ARGV[2] the state that it goes to: lost, filling and by whom, or where its counter begins
-- ARGV[3] when the counter may go, Unix ms; empty: as before
-- returns 1 when it is in that state now

local state = redis.call('GET', KEYS[1]) or ''
if state == 'retired' or (ARGV[1] ~= '*' and state ~= ARGV[1]) then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL')
if ARGV[3] ~= '' then redis.call('PEXPIREAT', KEYS[1], ARGV[3]) end
return 1
