-- What is known of the URLs of a host, a part at a time.
-- ARGV: worker, token, time, host, cursor, how many
-- Reply: cursor of the next part, and 18 bytes a URL: fingerprint, state, outcome, priority.

local host = ARGV[4]
local part = call('HSCAN', key('urls', host), ARGV[5], 'COUNT', ARGV[6])
local found = {}
for at = 1, #part[2], 2 do
  local fingerprint, record = part[2][at], part[2][at + 1]
  local state, outcome, priority = state_of(record), 0, 0
  if state == DONE or state == FAILED then
    outcome = string.byte(record, 2)
  elseif state == QUEUED then
    local member = string.sub(record, 3, 10) .. fingerprint
    priority = tonumber(call('ZSCORE', key('queue', host), member)) or 0
  else
    priority = select(4, unpack_record(record))
  end
  found[#found + 1] = struct.pack('>c8BBd', fingerprint, state, outcome, priority)
end
return {part[1], table.concat(found)}
