-- Sends the requests of a file, one after the other: each is a line with its length in bytes, then itself.
-- Called as: wrk -t1 ... -s wrk.lua <url> -- <file>. Prints one line of JSON.
local requests, at = {}, 0

function init(args)
  local file = assert(io.open(args[1], 'rb'))
  while true do
    local length = file:read('*n')
    if not length then break end
    file:read(1)
    requests[#requests + 1] = file:read(length)
  end
  file:close()
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"count":%d,"seconds":%.6f,"statusErrors":%d,"socketErrors":%d,"p50":%.3f,"p99":%.3f,"max":%.3f}\n',
    summary.requests, summary.duration / 1e6, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end
