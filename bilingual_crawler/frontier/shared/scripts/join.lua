-- A worker begins, or begins again: what it had in flight goes back, what it held it holds.
-- ARGV: worker, token (unused), time, id of its folder, seconds of a lease, languages
-- Reply: word, token, figures, sites that it holds, sites that are over, or why not.

local id, lease, langs = ARGV[4], tonumber(ARGV[5]), ARGV[6]

local begun_for = call('HGET', K .. 'crawl', 'langs')
if begun_for and begun_for ~= langs then
  return {'languages', begun_for}
end
local ends = tonumber(call('ZSCORE', K .. 'workers', W))
if ends and ends > now and call('HGET', key('worker', W), 'id') ~= id then
  return {'taken'}
end
call('HSET', K .. 'crawl', 'langs', langs, 'format', 1)

local others = call('ZCOUNT', K .. 'workers', '(' .. string.format('%.17g', now), '+inf')
if ends and ends > now then
  others = others - 1
end
local token = tostring(count('tokens', 1))
call('DEL', key('worker', W))
call('HSET', key('worker', W), 'token', token, 'id', id)
call('ZADD', K .. 'workers', now + lease, W)
call('ZREM', K .. 'idle', W)
for _, member in ipairs(call('ZRANGE', key('flight', W), 0, -1)) do
  requeue(W, member)
end
for _, site in ipairs(call('SMEMBERS', key('sites', leaving(W)))) do
  hand_over(site, leaving(W), NOBODY, now)
end
local held = call('SMEMBERS', key('sites', W))
for _, site in ipairs(held) do
  hand_over(site, W, W, math.min(ends or now, now))
end
if others == 0 then -- a new run: budgets may be larger now
  for _, host in ipairs(call('SMEMBERS', K .. 'shelved')) do
    local facts = call('HMGET', key('host', host), 'site', 'later')
    local waiting = call('ZCARD', key('queue', host)) + (tonumber(facts[2]) or 0)
    local owner = owner_of(facts[1])
    count('shelved', 0 - waiting)
    call('HDEL', key('host', host), 'shelved')
    call('SREM', K .. 'shelved', host)
    weigh(host, facts[1], owner, waiting, 0)
    local member, priority = head_of(host)
    offer(host, owner, member, priority)
  end
end
return {'joined', token, figures(), held, call('SMEMBERS', K .. 'stopped')}
