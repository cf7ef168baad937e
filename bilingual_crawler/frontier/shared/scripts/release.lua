-- A worker releases sites with nothing in flight; if no sites are given it leaves the crawl, and
-- everything that it has in flight goes back too.
-- ARGV: worker, token, time, sites...
-- Reply: word, figures, the sites that were released.

if not is_member() then
  return {'lost', figures(), {}}
end
local given_back = {}
local leaves = #ARGV < 4
local sites = leaves and call('SMEMBERS', key('sites', W)) or {unpack(ARGV, 4)}
if leaves then
  for _, member in ipairs(call('ZRANGE', key('flight', W), 0, -1)) do
    requeue(W, member)
  end
end
for _, site in ipairs(leaves and call('SMEMBERS', key('sites', leaving(W))) or {}) do
  hand_over(site, leaving(W), NOBODY, now)
end
for _, site in ipairs(sites) do
  local flight = whole(call('HGET', key('site', site), 'flight'))
  if (flight <= 0 or leaves) and owner_of(site) == W then
    hand_over(site, W, NOBODY, now)
    given_back[#given_back + 1] = site
  end
end
if leaves then
  call('ZREM', K .. 'workers', W)
  call('ZREM', K .. 'idle', W)
  call('DEL', key('worker', W))
end
return {'released', figures(), given_back}
