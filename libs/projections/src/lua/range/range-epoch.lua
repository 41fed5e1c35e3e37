#!lua flags=no-writes
-- Reads the epoch of a shard of a list by ranges.
-- KEYS[1] what was written in the epoch; the field without a name holds the epoch
-- returns the epoch, nil where there is none: the next write begins one

return redis.call('HGET', KEYS[1], '')
