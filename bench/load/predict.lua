-- wrk's side of the bench: sends the bodies of a file in turn and prints one line of JSON at the end.
--
--   wrk … -s predict.lua URL -- FILE
--
-- The first line of FILE is the API key (not an argument: those are seen in the list of processes), every
-- further line is a body. Requests are formatted once.

local requests = {}
local turn = 0

function init(args)
  local key = nil
  for line in io.lines(args[1]) do
    if key == nil then
      key = line
    else
      local headers = { ["Content-Type"] = "application/json", ["X-API-Key"] = key }
      requests[#requests + 1] = wrk.format("POST", "/predict", headers, line)
    end
  end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format(
    'MEASURED {"requests":%d,"seconds":%.6f,"p50Micros":%.1f,"p99Micros":%.1f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
