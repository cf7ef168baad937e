-- A sign of life. ARGV: worker, token, time, seconds of a lease
-- Reply: whether the worker still holds its lease, figures.

if not is_member() then
  return {'lost', figures()}
end
call('ZADD', K .. 'workers', now + tonumber(ARGV[4]), W)
return {'held', figures()}
