#!lua flags=allow-oom
-- Has a shard read no more and changed no more; what it holds stays.
-- KEYS[1] apply counter
-- ARGV[1] for how long this is known, ms
-- returns 1

redis.call('SET', KEYS[1], 'retired', 'PX', ARGV[1])
return 1
