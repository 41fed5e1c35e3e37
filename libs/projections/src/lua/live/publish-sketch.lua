#!lua
-- Publishes a sketch of a list, or says that the one there is still the list's: never in the place of a newer one.
-- KEYS[1] hash of generation, version, asOf, marks and doubt
-- ARGV[1] generation of the list
-- ARGV[2] version of the list
-- ARGV[3] when that was its version, Unix ms
-- ARGV[4] the marks; empty: those that are there
-- ARGV[5] how long it is kept, ms
-- ARGV[6] the doubt of the marks
-- returns 1 when that, or a later confirmation of it, is there; 0 when another sketch is, or none

local known = redis.call('HMGET', KEYS[1], 'generation', 'version', 'asOf')
local generation, version, as_of = tonumber(known[1] or -1), tonumber(known[2] or -1), tonumber(known[3] or -1)
local new_generation, new_version, new_as_of = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
if generation > new_generation then return 0 end
if generation == new_generation and version > new_version then return 0 end
local is_same = generation == new_generation and version == new_version
if ARGV[4] == '' and not is_same then return 0 end
if is_same and as_of >= new_as_of then return 1 end
redis.call('HSET', KEYS[1], 'generation', ARGV[1], 'version', ARGV[2], 'asOf', ARGV[3])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[1], 'marks', ARGV[4], 'doubt', ARGV[6]) end
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1
