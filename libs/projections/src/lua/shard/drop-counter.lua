#!lua flags=allow-oom
-- Removes a shard's counter; that the shard was retired stays known.
-- KEYS[1] apply counter
-- returns 1 when it is gone, 0 when it was retired

if redis.call('GET', KEYS[1]) == 'retired' then return 0 end
redis.call('UNLINK', KEYS[1])
return 1
