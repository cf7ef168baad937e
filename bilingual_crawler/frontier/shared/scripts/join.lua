-- A worker joins or rejoins: its URLs in flight go back to the queue, its sites stay its own.
-- ARGV: worker, token (unused), time, id of its folder, seconds of a lease, languages
-- Reply: word, token, figures, sites that it holds, stopped sites; or the reason of a refusal.

local id, lease, langs = ARGV[4], tonumber(ARGV[5]), ARGV[6]

local FORMAT = '1'
local KINDS = {
  crawl = 'hash', counts = 'hash', outcomes = 'hash', codes = 'hash', words = 'hash',
  workers = 'zset', heads = 'zset', later = 'zset', idle = 'zset',
  work = 'set', all_hosts = 'set', shelved = 'set', stopped = 'set',
}
for name, kind in pairs(KINDS) do
  local found = redis.call('TYPE', K .. name).ok
  if found ~= 'none' and found ~= kind then
    return {'damaged', K .. name}
  end
end
local begun = call('HMGET', K .. 'crawl', 'langs', 'format')
if (begun[1] or begun[2]) and begun[2] ~= FORMAT then
  return {'format', begun[2] or 'none', FORMAT}
end
if begun[1] and begun[1] ~= langs then
  return {'languages', begun[1]}
end
-- Drop leases and retries in an implausibly far future, which would be waited for.
local horizon = now + math.max(DAY, 10 * lease)
for _, name in ipairs({'workers', 'later'}) do
  for _, member in ipairs(call('ZRANGEBYSCORE', K .. name, horizon, '+inf', 'LIMIT', 0, SOME)) do
    call('ZADD', K .. name, now, member)
    note_dropped()
  end
end
local ends = tonumber(call('ZSCORE', K .. 'workers', W))
if ends and ends > now and call('HGET', key('worker', W), 'id') ~= id then
  return {'taken'}
end
call('HSET', K .. 'crawl', 'langs', langs, 'format', FORMAT)

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
    call('HDEL', key('host', host), 'shelved')
    call('SREM', K .. 'shelved', host)
    if facts[1] then
      local owner = owner_of(facts[1])
      count('shelved', 0 - waiting)
      weigh(host, facts[1], owner, waiting, 0)
      local member, priority = head_of(host)
      offer(host, owner, member, priority)
    else
      note_dropped()
    end
  end
  local flight = 0
  for _, worker in ipairs(call('ZRANGE', K .. 'workers', 0, -1)) do
    flight = flight + call('ZCARD', key('flight', worker))
  end
  call('HSET', K .. 'counts', 'flight', flight)
end
return {'joined', token, figures(), held, call('SMEMBERS', K .. 'stopped')}
