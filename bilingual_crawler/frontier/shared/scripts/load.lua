-- All that is known of the URLs of a host, one part at a time.
-- ARGV: worker, token, time, host, cursor, how many
-- Reply: cursor of the next part, and 18 bytes per URL: fingerprint, state, outcome, priority.

local host = ARGV[4]
local part = call('HSCAN', key('urls', host), ARGV[5], 'COUNT', ARGV[6])
local found = {}
for at = 1, #part[2], 2 do
  local fingerprint, record = part[2][at], part[2][at + 1]
  if is_record(fingerprint, record) then
    found[#found + 1] = struct.pack('>c8BBd', fingerprint, standing(host, fingerprint, record))
  else
    forget(host, fingerprint)
  end
end
return {part[1], table.concat(found)}
