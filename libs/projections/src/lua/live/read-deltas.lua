#!lua flags=no-writes
-- Reads the deltas that were published after a seq.
-- KEYS[1] snapshot (hash of seq, json and the last number taken)
-- KEYS[2] stream of deltas, at most 200
-- ARGV[1] the seq
-- returns { seq of the snapshot or nil, then the deltas as JSON, oldest first }

local answer = { redis.call('HGET', KEYS[1], 'seq') }
for _, entry in ipairs(redis.call('XRANGE', KEYS[2], '(' .. ARGV[1] .. '-0', '+')) do
  answer[#answer + 1] = entry[2][2]
end
return answer
