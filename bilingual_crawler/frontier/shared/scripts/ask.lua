-- The states of URLs. ARGV: worker, token, time, MessagePack of {fingerprint, host, ...}
-- Reply: 10 bytes per URL: state (255: unknown), outcome, priority.

local asked = cmsgpack.unpack(ARGV[4])
local found = {}
for at = 1, #asked, 2 do
  local fingerprint, host = asked[at], asked[at + 1]
  local record = record_of(host, fingerprint)
  local state, outcome, priority = 255, 0, 0
  if record then
    state, outcome, priority = standing(host, fingerprint, record)
  end
  found[#found + 1] = struct.pack('>BBd', state, outcome, priority)
end
return table.concat(found)
