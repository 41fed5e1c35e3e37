#!lua flags=no-writes
-- Reads some of the entries that are crossing into a shard.
-- KEYS[1] entries that are crossing into the shard: player → version, time
-- ARGV[1] how many
-- returns players and values by turns

return redis.call('HRANDFIELD', KEYS[1], ARGV[1], 'WITHVALUES')
