-- Where URLs stand. ARGV: worker, token, time, MessagePack of {fingerprint, host, ...}
-- Reply: 10 bytes a URL: state (255: unknown), outcome, priority.

local asked = cmsgpack.unpack(ARGV[4])
local found = {}
for at = 1, #asked, 2 do
  local fingerprint, host = asked[at], asked[at + 1]
  local record = record_of(host, fingerprint)
  local state, outcome, priority = 255, 0, 0
  if record then
    state = state_of(record)
    if state == DONE or state == FAILED then
      outcome = string.byte(record, 2)
    elseif state == QUEUED then
      local member = string.sub(record, 3, 10) .. fingerprint
      priority = tonumber(call('ZSCORE', key('queue', host), member)) or 0
    else
      priority = select(4, unpack_record(record))
    end
  end
  found[#found + 1] = struct.pack('>BBd', state, outcome, priority)
end
return table.concat(found)
