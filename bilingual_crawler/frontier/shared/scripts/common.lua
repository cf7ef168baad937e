-- The part that all scripts share: the layout of the frontier in Redis, and its upkeep.
--
-- All keys begin with KEYS[1], a prefix in braces, so that they are on one node of a cluster.
-- ARGV[1] is the worker that calls, ARGV[2] its token, ARGV[3] the time (empty: the server's).
--
--   crawl             hash: langs, format
--   counts            hash: sequence, known, queued, flight, failed, shelved, fenced, dropped, tokens
--   urls:HOST         hash: fingerprint -> record, for every URL that was ever pushed
--   queue:HOST        sorted set: the waiting URLs by priority; member = place + fingerprint
--   host:HOST         hash: site, next (no request before), delay, later and failed (URLs), shelved
--   hosts:SITE        set: the hosts of a site
--   site:SITE         hash: worker (its holder), queued, flight, pages
--   ready:OWNER       sorted set: hosts open for requests, by the priority of their best URL
--   wait:OWNER        sorted set: hosts not open for requests yet, by the time they will be
--   work:OWNER, work  sets: sites with anything queued or in flight
--   flight:OWNER      sorted set: fingerprint + host of URLs in flight, by the time they left
--   sites:OWNER       set: the sites that a worker holds
--   later             sorted set: fingerprint + host of retries, by the time they are due
--   heads             sorted set: all hosts by the priority of their best URL
--   workers           sorted set: the workers by the time at which their lease ends
--   worker:OWNER      hash: token, id, and the last pop (nonce, popped)
--   idle              sorted set: workers that found nothing to do, by when
--   outcomes          hash: number of URLs per outcome; codes: word -> number of each outcome
--   all_hosts, shelved, stopped   sets: every host, those without budget, sites that are over
--
-- OWNER is a worker, or empty if no worker holds it, or WORKER/leaving for sites that will be
-- given away as soon as nothing of them is in flight. A place is eight bytes that sort in the
-- reverse order of pushes: of equal priorities the first pushed is the best.
--
-- Other programs may write to the same Redis. So everything that is read is checked, and anything
-- that our scripts cannot have written is dropped and counted, so that it neither stops a worker
-- nor keeps one waiting.

local K, W, TOKEN, now = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) + tonumber(time[2]) / 1000000
end

local QUEUED, LEASED, DONE, FAILED, LATER = 0, 1, 2, 3, 4
local LAST_PLACE = 9007199254740992
local SOME = 100 -- the maximum of anything that one call handles for others
local NOBODY = ''
local DAY = 86400 -- longer than any wait
local LARGEST_RECORD = 2097152

local function note_dropped()
  local answer = redis.pcall('HINCRBY', K .. 'counts', 'dropped', 1)
  if type(answer) == 'table' then
    redis.call('HSET', K .. 'counts', 'dropped', 1)
  end
end

-- Run a command. A key of another type is renamed; a value that is not a number is deleted.
local function call(command, name, ...)
  local answer = redis.pcall(command, name, ...)
  local problem = type(answer) == 'table' and answer.err
  if not problem then
    return answer
  end
  if string.find(problem, 'WRONGTYPE', 1, true) then
    redis.call('RENAME', name, K .. 'damaged:' .. string.sub(name, #K + 1))
  elseif command == 'HINCRBY' and string.find(problem, 'not an integer', 1, true)
      or command == 'HINCRBY' and string.find(problem, 'overflow', 1, true) then
    redis.call('HDEL', name, (...))
  else
    return redis.call(command, name, ...) -- raises the error
  end
  note_dropped()
  return redis.call(command, name, ...)
end

local function whole(value)
  local number = tonumber(value)
  if not number or number ~= number then
    return 0
  end
  return math.max(math.min(number, LAST_PLACE), -LAST_PLACE)
end

-- A plausible number of seconds to wait, or nothing.
local function seconds(value)
  local number = tonumber(value)
  return number and number >= 0 and number <= DAY and number or nil
end

local function key(kind, name)
  return K .. kind .. ':' .. name
end

local function count(name, by)
  return call('HINCRBY', K .. 'counts', name, by)
end

-- Records. Waiting or in flight: state, attempts, place, priority (while it is not in the
-- queue), body. Ended: state and the number of the outcome; failed: also priority and body.

local function unpack_record(record)
  local state, attempts, place, priority, at = struct.unpack('>BBc8d', record)
  return state, attempts, place, priority, string.sub(record, at)
end

local function keep(host, fingerprint, state, attempts, place, priority, body)
  local head = struct.pack('>BBc8d', state, math.min(attempts, 255), place, priority)
  call('HSET', key('urls', host), fingerprint, head .. body)
end

local function state_of(record)
  return string.byte(record, 1)
end

local function is_record(fingerprint, record)
  local state = state_of(record)
  if #fingerprint ~= 8 or not state or state > LATER or #record > LARGEST_RECORD then
    return false
  elseif state == DONE then
    return #record >= 2
  end
  local at = state == FAILED and 3 or 11
  if #record < at + 8 then
    return false
  end
  local priority = struct.unpack('>d', record, at)
  return priority == priority
end

local function forget(host, fingerprint)
  if call('HDEL', key('urls', host), fingerprint) == 1 then
    count('known', -1)
    note_dropped()
  end
end

local function record_of(host, fingerprint)
  local record = call('HGET', key('urls', host), fingerprint)
  if record and not is_record(fingerprint, record) then
    forget(host, fingerprint)
    return false
  end
  return record
end

-- What a worker learns of a URL: its state, its outcome, its priority if it waits.
local function standing(host, fingerprint, record)
  local state = state_of(record)
  if state == DONE or state == FAILED then
    return state, string.byte(record, 2), 0
  end
  if state == QUEUED then
    local member = string.sub(record, 3, 10) .. fingerprint
    return state, 0, tonumber(call('ZSCORE', key('queue', host), member)) or 0
  end
  return state, 0, (select(4, unpack_record(record)))
end

-- Holders.

local function site_of(host)
  return call('HGET', key('host', host), 'site')
end

local function owner_of(site)
  return site and call('HGET', key('site', site), 'worker') or NOBODY
end

local function is_member()
  return call('HGET', key('worker', W), 'token') == TOKEN
end

local function holds(site)
  return is_member() and owner_of(site) == W
end

-- Put a host where it belongs: among the ready hosts of its owner, or among those that wait.

local function head_of(host)
  local best = call('ZREVRANGE', key('queue', host), 0, 0, 'WITHSCORES')
  while best[1] and #best[1] ~= 16 do -- eight bytes of place, eight of fingerprint
    call('ZREM', key('queue', host), best[1])
    note_dropped()
    best = call('ZREVRANGE', key('queue', host), 0, 0, 'WITHSCORES')
  end
  return best[1], best[2]
end

local function label(member, host)
  return string.sub(member, 1, 8) .. host
end

local function withdraw(host, owner, member)
  if member then
    local name = label(member, host)
    call('ZREM', key('ready', owner), name)
    call('ZREM', K .. 'heads', name)
  end
end

local function offer(host, owner, member, priority)
  if not member then
    call('ZREM', key('wait', owner), host)
    return
  end
  local facts = call('HMGET', key('host', host), 'next', 'shelved')
  if facts[2] then
    return
  end
  local name = label(member, host)
  call('ZADD', K .. 'heads', priority, name)
  local next_time = tonumber(facts[1]) or 0
  if next_time > now and (owner ~= NOBODY or next_time <= now + DAY) then
    call('ZADD', key('wait', owner), next_time, host)
  else
    call('ZADD', key('ready', owner), priority, name)
  end
end

-- Change the queue of a host, then put the host where it belongs.
local function change_queue(host, owner, ...)
  local member, priority = head_of(host)
  local changed = call(...)
  local new_member, new_priority = head_of(host)
  if member ~= new_member or priority ~= new_priority then
    withdraw(host, owner, member)
    offer(host, owner, new_member, new_priority)
  end
  return changed
end

local function enqueue(host, owner, priority, member)
  change_queue(host, owner, 'ZADD', key('queue', host), priority, member)
end

local function let_wait(host, owner, next_time)
  local member, priority = head_of(host)
  call('HSET', key('host', host), 'next', next_time)
  if member then
    call('ZREM', key('ready', owner), label(member, host))
    call('ZREM', key('wait', owner), host)
    offer(host, owner, member, priority)
  end
end

-- Count queued URLs and those in flight; URLs of a shelved host only count as shelved.
local function weigh(host, site, owner, queued, flight)
  local name = key('site', site)
  if queued ~= 0 then
    if call('HEXISTS', key('host', host), 'shelved') == 1 then
      count('shelved', queued)
      queued = 0
    else
      count('queued', queued)
      call('HINCRBY', name, 'queued', queued)
    end
  end
  if flight ~= 0 then
    count('flight', flight)
    call('HINCRBY', name, 'flight', flight)
  end
  if queued + flight == 0 then
    return -- as much to do as before
  end
  local sums = call('HMGET', name, 'queued', 'flight')
  local has_work = (tonumber(sums[1]) or 0) + (tonumber(sums[2]) or 0) > 0
  local command = has_work and 'SADD' or 'SREM'
  call(command, K .. 'work', site)
  call(command, key('work', owner), site)
end

local function is_finite(value)
  return value and value < math.huge
end

-- Move all hosts of a site from one owner to another. `base`: when their delay starts.
local function hand_over(site, from, to, base)
  for _, host in ipairs(call('SMEMBERS', key('hosts', site))) do
    local member, priority = head_of(host)
    withdraw(host, from, member)
    call('ZREM', key('wait', from), host)
    if base then
      local facts = call('HMGET', key('host', host), 'next', 'delay')
      local next_time = tonumber(facts[1])
      local delay = seconds(facts[2])
      local earliest = delay and base + delay or 0
      if not is_finite(next_time) or next_time < earliest or next_time > now + DAY then
        call('HSET', key('host', host), 'next', earliest)
      end
    end
    offer(host, to, member, priority)
  end
  if call('SREM', key('work', from), site) == 1 then
    call('SADD', key('work', to), site)
  end
  call('SREM', key('sites', from), site)
  if to == NOBODY then
    call('HDEL', key('site', site), 'worker')
  else
    call('HSET', key('site', site), 'worker', to)
    call('SADD', key('sites', to), site)
  end
end

local function leaving(worker)
  return worker .. '/leaving'
end

-- A site that its worker has given up becomes free when nothing of it is in flight.
local function let_go(site, owner)
  local from_leaving = string.sub(owner, -8) == '/leaving'
  if from_leaving and whole(call('HGET', key('site', site), 'flight')) <= 0 then
    hand_over(site, owner, NOBODY, now)
  end
end

-- Put a URL in flight back into its queue, at its old place.
local function requeue(owner, member)
  local fingerprint, host = string.sub(member, 1, 8), string.sub(member, 9)
  call('ZREM', key('flight', owner), member)
  local record = record_of(host, fingerprint)
  if not record or state_of(record) ~= LEASED then
    return
  end
  local _, attempts, place, priority, body = unpack_record(record)
  local site = site_of(host)
  if not site then
    forget(host, fingerprint)
    return
  end
  local holder = owner_of(site)
  keep(host, fingerprint, QUEUED, attempts, place, priority, body)
  weigh(host, site, holder, 1, -1)
  enqueue(host, holder, priority, place .. fingerprint)
  let_go(site, holder)
end

-- The figures for all workers: waiting, in flight at other workers, known, over budget, fenced,
-- sites that the worker holds, dropped. Nothing waits if no host has a URL.
local function figures()
  local sums = call('HMGET', K .. 'counts', 'queued', 'flight', 'known', 'shelved', 'fenced',
                    'dropped')
  local heads = call('ZCARD', K .. 'heads')
  local queued = math.max(whole(sums[1]), heads)
  if heads == 0 and call('ZCARD', K .. 'later') == 0 then
    queued = 0
  end
  local elsewhere = math.max(whole(sums[2]) - call('ZCARD', key('flight', W)), 0)
  if queued == 0 and elsewhere > 0 then -- the crawl only waits for these: do they exist?
    elsewhere = 0
    for _, worker in ipairs(call('ZRANGE', K .. 'workers', 0, -1)) do
      elsewhere = elsewhere + (worker ~= W and call('ZCARD', key('flight', worker)) or 0)
    end
  end
  return {
    queued,
    elsewhere,
    whole(sums[3]),
    whole(sums[4]),
    whole(sums[5]),
    call('SCARD', key('sites', W)),
    whole(sums[6]),
  }
end
