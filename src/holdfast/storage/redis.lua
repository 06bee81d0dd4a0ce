-- The scripts of values in Redis, named and described. Each begins with `common`.
-- KEYS[1] is the prefix, ARGV[1] the namespace.

-- name: common
local base, time = KEYS[1], redis.call('TIME')
local now_ms = time[1] * 1000 + math.floor(time[2] / 1000)
local function place(kind, ns) return base .. ':' .. kind .. ':' .. ns end
local function value_of(ns, key) return base .. ':v:' .. #ns .. ':' .. ns .. key end
local names, bytes = base .. ':n', base .. ':b'
local before_now = '(' .. string.format('%.0f', now_ms)

local function forget(ns, key)
  redis.call('DEL', value_of(ns, key))
  redis.call('ZREM', place('d', ns), key)
  local size = redis.call('HGET', place('s', ns), key)
  redis.call('HDEL', place('s', ns), key)
  if size then redis.call('HINCRBY', bytes, ns, -size) end
  return redis.call('ZREM', place('k', ns), key)
end

local function settle(ns)
  if redis.call('EXISTS', place('k', ns)) == 1 then
    redis.call('ZADD', names, 0, ns)
  else
    redis.call('ZREM', names, ns)
    redis.call('HDEL', bytes, ns)
  end
end

local function drop_due(ns)
  local due = redis.call('ZRANGEBYSCORE', place('d', ns), '-inf', before_now)
  for _, key in ipairs(due) do forget(ns, key) end
  return #due
end

local function live_keys(ns, first, last)
  local keys = redis.call('ZRANGEBYLEX', place('k', ns), first, last)
  local due = redis.call('ZRANGEBYSCORE', place('d', ns), '-inf', before_now)
  if #due == 0 then return keys end
  local gone, live = {}, {}
  for _, key in ipairs(due) do gone[key] = true end
  for _, key in ipairs(keys) do
    if not gone[key] then live[#live + 1] = key end
  end
  return live
end

-- name: list
return live_keys(ARGV[1], ARGV[2], ARGV[3])

-- name: snapshot
local found = {}
for _, key in ipairs(live_keys(ARGV[1], ARGV[2], ARGV[3])) do
  local value = redis.call('GET', value_of(ARGV[1], key))
  if value then
    found[#found + 1] = key
    found[#found + 1] = value
  end
end
return found

-- name: live
-- Each namespace with a value, and how many.
local found = {}
for _, ns in ipairs(redis.call('ZRANGEBYLEX', names, '-', '+')) do
  local live = redis.call('ZCARD', place('k', ns))
    - redis.call('ZCOUNT', place('d', ns), '-inf', before_now)
  if live > 0 then
    found[#found + 1] = ns
    found[#found + 1] = live
  end
end
return found

-- name: clear
local ns = ARGV[1]
for _, key in ipairs(redis.call('ZRANGEBYLEX', place('k', ns), '-', '+')) do
  redis.call('UNLINK', value_of(ns, key))
end
redis.call('DEL', place('k', ns), place('d', ns), place('s', ns))
settle(ns)
return 0

-- name: sweep
local swept = 0
for _, ns in ipairs(redis.call('ZRANGEBYLEX', names, '-', '+')) do
  swept = swept + drop_due(ns)
  settle(ns)
end
return swept

-- name: apply
-- ARGV[2] is the quota; then for each operation its key, the revision that was seen (`*`: any, '':
-- none), the JSON ('': none), the expiry exactly and in milliseconds, and the size.
local ns, quota, sets = ARGV[1], ARGV[2], 0
for i = 3, #ARGV, 6 do
  if ARGV[i + 2] ~= '' then sets = sets + 1 end
end
-- First of all, since a server without room refuses this, and nothing that comes after a change.
local revision = sets > 0 and redis.call('INCRBY', base .. ':r', sets) - sets or 0
drop_due(ns)
local function revision_of(key)
  local value = redis.call('GETRANGE', value_of(ns, key), 0, 31)
  return string.match(value, '^%d+') or ''
end
for i = 3, #ARGV, 6 do
  if ARGV[i + 1] ~= '*' and ARGV[i + 1] ~= revision_of(ARGV[i]) then return {1} end
end
if quota ~= 'inf' then
  local used = tonumber(redis.call('HGET', bytes, ns) or 0)
  local would = used
  for i = 3, #ARGV, 6 do
    would = would - tonumber(redis.call('HGET', place('s', ns), ARGV[i]) or 0)
    if ARGV[i + 2] ~= '' then would = would + tonumber(ARGV[i + 5]) end
  end
  if would > tonumber(quota) and would > used then return {2, used, would} end
end
local answer = {0}
for i = 3, #ARGV, 6 do
  local key, data, exactly, expires_ms = ARGV[i], ARGV[i + 2], ARGV[i + 3], ARGV[i + 4]
  answer[#answer + 1] = forget(ns, key)
  if data ~= '' then
    revision = revision + 1
    if expires_ms == '' or tonumber(expires_ms) >= now_ms then
      local value = value_of(ns, key)
      redis.call('SET', value, string.format('%.0f', revision) .. ' ' .. exactly .. '\n' .. data)
      redis.call('ZADD', place('k', ns), 0, key)
      redis.call('HSET', place('s', ns), key, ARGV[i + 5])
      redis.call('HINCRBY', bytes, ns, ARGV[i + 5])
      if expires_ms ~= '' then
        redis.call('PEXPIREAT', value, expires_ms)
        redis.call('ZADD', place('d', ns), expires_ms, key)
      end
    end
  end
  answer[#answer + 1] = revision
end
settle(ns)
return answer
