-- A batch of changes, in the order in which the worker made them; each may be sent twice.
-- ARGV: worker, token, time, time by the worker's clock, MessagePack of a list of changes
-- Reply: whether the worker still holds its lease, figures.

local act = {}
local ahead = now - tonumber(ARGV[4]) -- how far the server's clock is ahead of the worker's

-- Raise a known URL, if it waits at a lower priority.
local function rise(host, owner, fingerprint, record, priority)
  local state = state_of(record)
  if state == QUEUED then
    local member = string.sub(record, 3, 10) .. fingerprint
    change_queue(host, owner, 'ZADD', key('queue', host), 'XX', 'GT', priority, member)
  elseif state == LATER then
    local _, attempts, place, before, body = unpack_record(record)
    keep(host, fingerprint, LATER, attempts, place, math.max(before, priority), body)
  end
end

local function count_failed(host, by)
  count('failed', by)
  call('HINCRBY', key('host', host), 'failed', by)
end

local function forget_end(host, site, record)
  if state_of(record) == DONE then
    call('HINCRBY', key('site', site), 'pages', -1)
  else
    count_failed(host, -1)
  end
  local outcome = call('HGET', K .. 'words', string.byte(record, 2))
  if outcome then
    call('HINCRBY', K .. 'outcomes', outcome, -1)
  end
end

function act.push(fingerprint, host, site, priority, body, again)
  local record = record_of(host, fingerprint)
  if record then
    local state = state_of(record)
    if state ~= DONE and state ~= FAILED then
      rise(host, owner_of(site), fingerprint, record, priority)
      return
    elseif not again then
      return
    end
    forget_end(host, site, record)
  else
    count('known', 1)
    if call('HSETNX', key('host', host), 'site', site) == 1 then
      call('SADD', key('hosts', site), host)
      call('SADD', K .. 'all_hosts', host)
    end
  end
  local owner = owner_of(site)
  local place = struct.pack('>I8', LAST_PLACE - count('sequence', 1))
  keep(host, fingerprint, QUEUED, 0, place, priority, body)
  weigh(host, site, owner, 1, 0)
  enqueue(host, owner, priority, place .. fingerprint)
end

act['raise'] = function(fingerprint, host, priority)
  local record = record_of(host, fingerprint)
  if record then
    rise(host, owner_of(site_of(host)), fingerprint, record, priority)
  end
end

function act.set(fingerprint, host, priority)
  local record = record_of(host, fingerprint)
  local site = site_of(host)
  if not record then
    return
  end
  local owner = owner_of(site)
  if owner ~= NOBODY and not holds(site) then
    count('fenced', 1)
  elseif state_of(record) == QUEUED then
    local member = string.sub(record, 3, 10) .. fingerprint
    change_queue(host, owner, 'ZADD', key('queue', host), 'XX', priority, member)
  elseif state_of(record) == LATER then
    local _, attempts, place, _, body = unpack_record(record)
    keep(host, fingerprint, LATER, attempts, place, priority, body)
  end
end

local function code_of(outcome)
  local code = tonumber(call('HGET', K .. 'codes', outcome))
  if not code or code < 1 or code > 255 or code % 1 ~= 0 then
    code = math.min(call('HLEN', K .. 'codes') + 1, 255)
    call('HSET', K .. 'codes', outcome, code)
    call('HSET', K .. 'words', code, outcome)
  end
  return code
end

-- A URL has ended: it was in flight here, or was fetched here and is queued again by now.
act['end'] = function(fingerprint, host, site, state, outcome)
  local record = record_of(host, fingerprint)
  local owner = owner_of(site)
  if not record then
    return
  end
  local was = state_of(record)
  local member = fingerprint .. host
  if was == LEASED then
    if call('ZREM', key('flight', W), member) == 0 then
      count('fenced', 1)
      return
    end
    weigh(host, site, owner, 0, -1)
    let_go(site, owner)
  elseif was == QUEUED then
    local queued = string.sub(record, 3, 10) .. fingerprint
    change_queue(host, owner, 'ZREM', key('queue', host), queued)
    weigh(host, site, owner, -1, 0)
  elseif was == LATER then
    call('ZREM', K .. 'later', member)
    call('HINCRBY', key('host', host), 'later', -1)
    weigh(host, site, owner, -1, 0)
  else
    return
  end
  local kept = string.char(state, code_of(outcome))
  if state == FAILED then -- it may be tried again
    local _, _, _, priority, body = unpack_record(record)
    kept = kept .. struct.pack('>d', priority) .. body
    count_failed(host, 1)
  end
  call('HSET', key('urls', host), fingerprint, kept)
  call('HINCRBY', K .. 'outcomes', outcome, 1)
  if state == DONE then
    call('HINCRBY', key('site', site), 'pages', 1)
  end
end

function act.retry(fingerprint, host, site, ready_at, body)
  local record = record_of(host, fingerprint)
  local member = fingerprint .. host
  if not record or state_of(record) ~= LEASED then
    return
  end
  if call('ZREM', key('flight', W), member) == 0 then
    count('fenced', 1)
    return
  end
  local _, attempts, place, priority = unpack_record(record)
  keep(host, fingerprint, LATER, attempts + 1, place, priority, body)
  call('ZADD', K .. 'later', ahead + ready_at, member)
  call('HINCRBY', key('host', host), 'later', 1)
  local owner = owner_of(site)
  weigh(host, site, owner, 1, -1)
  let_go(site, owner)
end

-- The worker's own gate was closed: the URL was never sent.
function act.back(fingerprint, host)
  local member = fingerprint .. host
  if call('ZSCORE', key('flight', W), member) then
    requeue(W, member)
  end
end

-- When the next URL of a host may be sent, by the worker's own gate.
function act.host(host, open_at, delay)
  local site = site_of(host)
  if site and holds(site) then
    call('HSET', key('host', host), 'delay', delay)
    let_wait(host, W, ahead + open_at)
  end
end

-- Send nothing more to a host in this run.
function act.shelve(host)
  local facts = call('HMGET', key('host', host), 'site', 'later', 'shelved')
  if not facts[1] or facts[3] or not holds(facts[1]) then
    return
  end
  local waiting = call('ZCARD', key('queue', host)) + (tonumber(facts[2]) or 0)
  withdraw(host, W, (head_of(host)))
  call('ZREM', key('wait', W), host)
  weigh(host, facts[1], W, 0 - waiting, 0)
  call('HSET', key('host', host), 'shelved', 1)
  call('SADD', K .. 'shelved', host)
  count('shelved', waiting)
end

-- The worker cannot read its URL.
function act.drop(fingerprint, host, site)
  if call('ZREM', key('flight', W), fingerprint .. host) == 1 then
    site = site_of(host) or site
    local owner = owner_of(site)
    weigh(host, site, owner, 0, -1)
    let_go(site, owner)
    forget(host, fingerprint)
  end
end

function act.stop(site)
  call('SADD', K .. 'stopped', site)
end

local changes = cmsgpack.unpack(ARGV[5])
for _, change in ipairs(changes) do
  local done, problem = pcall(act[change[1]], unpack(change, 2))
  if not done and type(problem) == 'string' then
    note_dropped() -- a key in its way that is not ours
  elseif not done then
    error(problem) -- an error of Redis itself
  end
end
return {is_member() and 'held' or 'lost', figures()}
