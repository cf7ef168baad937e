-- The best URL that this worker may send now, leased to it, together with its site.
-- ARGV: worker, token, time, seconds of a lease, most sites, number of this pop, usual delay
-- Reply: word, figures, seconds until more may be there, sites given up, and if there is a URL
--        its fingerprint, host, priority, attempts and body. The figures include a site that is taken.

local lease, most_sites, nonce = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local usual_delay = tonumber(ARGV[7])
local AWHILE, FEW = 5, 10

if not is_member() then
  return {'lost', figures()}
end
call('ZADD', K .. 'workers', now + lease, W)

-- The sites of a dead worker become free at the end of its lease.
local function bury()
  local dead = call('ZRANGEBYSCORE', K .. 'workers', '-inf', now, 'WITHSCORES', 'LIMIT', 0, 1)
  local name, ended = dead[1], tonumber(dead[2])
  if not name then
    return
  end
  call('DEL', key('worker', name))
  local flight = call('ZRANGE', key('flight', name), 0, SOME - 1)
  for _, member in ipairs(flight) do
    requeue(name, member)
  end
  if #flight == SOME then
    return
  end
  local done = true
  for _, owner in ipairs({name, leaving(name)}) do
    local sites = call('SRANDMEMBER', key('sites', owner), SOME)
    for _, site in ipairs(sites) do
      hand_over(site, owner, NOBODY, ended)
    end
    done = done and #sites < SOME
  end
  if done then
    call('ZREM', K .. 'workers', name)
    call('ZREM', K .. 'idle', name)
  end
end

local function wake(owner)
  local due = call('ZRANGEBYSCORE', key('wait', owner), '-inf', now, 'LIMIT', 0, SOME)
  for _, host in ipairs(due) do
    call('ZREM', key('wait', owner), host)
    local member, priority = head_of(host)
    offer(host, owner, member, priority)
  end
end

local function wake_retries()
  local due = call('ZRANGEBYSCORE', K .. 'later', '-inf', now, 'LIMIT', 0, SOME)
  for _, member in ipairs(due) do
    call('ZREM', K .. 'later', member)
    local fingerprint, host = string.sub(member, 1, 8), string.sub(member, 9)
    local record = record_of(host, fingerprint)
    if record and state_of(record) == LATER then
      local _, attempts, place, priority, body = unpack_record(record)
      keep(host, fingerprint, QUEUED, attempts, place, priority, body)
      call('HINCRBY', key('host', host), 'later', -1)
      enqueue(host, owner_of(site_of(host)), priority, place .. fingerprint)
    end
  end
end

bury()
wake_retries()
wake(W)
wake(NOBODY)

local function answer(host, fingerprint, priority, attempts, body, seconds, given_up)
  return {'url', figures(), string.format('%.17g', seconds), given_up,
          fingerprint, host, string.format('%.17g', priority), attempts, body}
end

-- Repeat an answer that was lost on its way.
local last = call('HMGET', key('worker', W), 'nonce', 'popped')
if last[1] == nonce and last[2] and call('ZSCORE', key('flight', W), last[2]) then
  local host, fingerprint = string.sub(last[2], 9), string.sub(last[2], 1, 8)
  local record = record_of(host, fingerprint)
  if record and state_of(record) == LEASED then
    local _, attempts, _, priority, body = unpack_record(record)
    return answer(host, fingerprint, priority, attempts, body, 0, {})
  end
  call('ZREM', key('flight', W), last[2])
end

local alive = math.max(call('ZCARD', K .. 'workers'), 1)
local fair = math.ceil(call('SCARD', K .. 'work') / alive)
local working = call('SCARD', key('work', W))
local may_take = working < math.min(most_sites, math.max(fair, 1))

local given_up = {}

local function give_up(site)
  local flight = whole(call('HGET', key('site', site), 'flight'))
  hand_over(site, W, flight > 0 and leaving(W) or NOBODY, now)
  given_up[#given_up + 1] = site
end

-- If a worker is idle and this one has more than its share, give away, of a few sites, the one
-- with the fewest fetched pages.
call('ZREM', K .. 'idle', W)
if working > fair and call('ZCOUNT', K .. 'idle', now - AWHILE, '+inf') > 0 then
  local choice, fewest
  for _, site in ipairs(call('SRANDMEMBER', key('work', W), FEW)) do
    local pages = tonumber(call('HGET', key('site', site), 'pages')) or 0
    if not fewest or pages < fewest then
      choice, fewest = site, pages
    end
  end
  call('ZREMRANGEBYRANK', K .. 'idle', 0, 0)
  give_up(choice)
  may_take = false
end

-- The host with the best URL that may be sent now, and whether no worker holds it yet.
local function best_host()
  local mine = call('ZREVRANGE', key('ready', W), 0, 0, 'WITHSCORES')
  local free = may_take and call('ZREVRANGE', key('ready', NOBODY), 0, 0, 'WITHSCORES') or {}
  if free[1] then
    local ours, theirs = tonumber(mine[2]), tonumber(free[2])
    if not mine[1] or theirs > ours or (theirs == ours and free[1] > mine[1]) then
      return free[1], NOBODY
    end
  end
  return mine[1], W
end

-- Move a host that is in the wrong list to the right one.
local function put_right(name, owner)
  local host = string.sub(name, 9)
  local site = site_of(host)
  local member, priority = head_of(host)
  call('ZREM', key('ready', owner), name)
  if not site or not member or label(member, host) ~= name then
    call('ZREM', K .. 'heads', name)
  end
  if site and member then
    offer(host, owner_of(site), member, priority)
  end
  note_dropped()
end

-- The best URL of a host, its site and its record; nothing if the record is not ours.
local function best_url(name, owner)
  local host = string.sub(name, 9)
  local site = site_of(host)
  local member, priority = head_of(host)
  if not site or not member or owner_of(site) ~= owner or label(member, host) ~= name then
    put_right(name, owner)
    return
  end
  local record = record_of(host, string.sub(member, 9))
  if not record or state_of(record) ~= QUEUED
      or string.sub(record, 3, 10) .. string.sub(member, 9) ~= member then
    change_queue(host, owner, 'ZREM', key('queue', host), member)
    weigh(host, site, owner, -1, 0)
    note_dropped()
    return
  end
  return host, site, member, tonumber(priority), record
end

-- Of a few hosts with URLs: those that no worker would ever reach, because their owner is gone,
-- or they are in no list, or wait for a time that never comes.
local function revive()
  for _, name in ipairs(call('ZRANDMEMBER', K .. 'heads', FEW)) do
    local host = string.sub(name, 9)
    local site = site_of(host)
    local owner = owner_of(site)
    local worker = string.gsub(owner, '/leaving$', '')
    if owner ~= NOBODY and not call('ZSCORE', K .. 'workers', worker) then
      hand_over(site, owner, NOBODY, now)
      note_dropped()
    end
    owner = owner_of(site)
    local waits = tonumber(call('ZSCORE', key('wait', owner), host))
    if waits and owner == NOBODY and waits > now + DAY then
      call('ZREM', key('wait', owner), host)
      waits = nil
    end
    if not waits and not call('ZSCORE', key('ready', owner), name) then
      put_right(name, owner)
    end
  end
end

-- The time until there may be another URL, apart from the host that is popped: the worker's own
-- gate knows about that one.
local function pause(popped)
  local ready = call('ZREVRANGE', key('ready', W), 0, 1)
  for _, name in ipairs(ready) do
    if string.sub(name, 9) ~= popped then
      return 0
    end
  end
  if may_take and call('ZCARD', key('ready', NOBODY)) > 0 then
    return 0
  end
  local soonest = math.huge
  for _, name in ipairs({key('wait', W), key('wait', NOBODY), K .. 'later', K .. 'workers'}) do
    local first = call('ZRANGE', name, 0, 0, 'WITHSCORES')
    soonest = math.min(soonest, tonumber(first[2]) or math.huge)
  end
  return math.max(soonest - now, 0)
end

local host, site, member, priority, record, owner
for _ = 1, SOME do
  local name
  name, owner = best_host()
  if not name then
    break
  end
  host, site, member, priority, record = best_url(name, owner)
  if host then
    break
  end
end

if not host then
  call('ZADD', K .. 'idle', now, W)
  revive()
  return {'none', figures(), string.format('%.17g', pause()), given_up}
end

if owner == NOBODY then
  hand_over(site, NOBODY, W)
  if call('SCARD', key('sites', W)) > most_sites then -- release one without URLs
    for _, held in ipairs(call('SRANDMEMBER', key('sites', W), FEW)) do
      if call('SISMEMBER', K .. 'work', held) == 0 then
        give_up(held)
        break
      end
    end
  end
end
local fingerprint = string.sub(member, 9)
local delay = seconds(call('HGET', key('host', host), 'delay'))
if not delay then
  delay = usual_delay
  call('HSET', key('host', host), 'delay', delay)
end
if delay > 0 then
  call('HSET', key('host', host), 'next', now + delay)
end
change_queue(host, W, 'ZREM', key('queue', host), member)
local _, attempts, place, _, body = unpack_record(record)
keep(host, fingerprint, LEASED, attempts, place, priority, body)
weigh(host, site, W, -1, 1)
call('ZADD', key('flight', W), now, fingerprint .. host)
call('HSET', key('worker', W), 'nonce', nonce, 'popped', fingerprint .. host)
return answer(host, fingerprint, priority, attempts, body, pause(host), given_up)
