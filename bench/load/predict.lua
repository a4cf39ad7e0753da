-- wrk's side of the bench: sends the bodies of a file in turn and prints one line of JSON at the end.
--
--   wrk … -s predict.lua URL -- FILE MEDIA-TYPE
--
-- FILE is what requestFile.ts writes. Requests are formatted once.

local requests = {}
local turn = 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  local headers = { ["Content-Type"] = args[2], ["X-API-Key"] = file:read("*l") }
  for length in file:read("*l"):gmatch("%d+") do
    requests[#requests + 1] = wrk.format("POST", "/predict", headers, file:read(tonumber(length)))
  end
  file:close()
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    'MEASURED {"requests":%d,"seconds":%.6f,"p50Micros":%.1f,"p99Micros":%.1f,"p999Micros":%.1f,"refused":%d,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    latency:percentile(99.9), e.status,
    e.connect + e.read + e.write + e.status + e.timeout))
end
