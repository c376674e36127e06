import { BACKOFF_FIRST_MS, PERMITS_WAIT_MS, TOKENS_PERIOD_MS } from '../limits/port.ts'

/**
 * The time in milliseconds by which keys outlive their data. With this margin, a test that stops
 * the clock keeps its data.
 */
const SLACK_MS = 60_000

/** Lua code that sets `now` to the clock of Redis, or to a test's time, in whole milliseconds. */
const NOW = `
local now = tonumber(ARGV[1])
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local text = function(number) return string.format('%.0f', number) end
local keep = function(key, ms) redis.call('PEXPIRE', key, text(ms + ${SLACK_MS})) end
`

/**
 * Decides all claims of a request in one step. KEYS has one key per claim. ARGV has the time (0
 * means the time of Redis), the id of the permit and the lease time in milliseconds. Four values
 * per claim follow: its kind and three numbers. If all claims are granted, the result is {0, time
 * of the decision}. If not, the result is {index of the first claim whose limit is reached,
 * milliseconds to wait}.
 *
 * Each kind of claim has its numbers and its type of stored value:
 * - rate (max, period, count): a list of at most max times, newest first. The limit is reached
 *   while the list has no room for count more times within the period. An entry takes ten bytes.
 *   Times are added in portions, because a command has a maximum number of arguments.
 * - seats (max): a sorted set of permits. The score is the time at which the permit expires.
 * - tokens (max, estimate): a sorted set of permit:amount. The score is the time of the decision.
 *   The member '=' has minus the sum of all amounts as its score, so this member sorts before every
 *   time.
 * - backoff (free tries, longest delay, forgotten after): a hash with the number of tries and the
 *   time of the last try.
 *
 * A time in the future was recorded before the clock was set back, so it causes no wait.
 *
 * NOTE: all checks run before the first write, and each update adds before it removes. If Redis is
 * out of memory, the script therefore fails at the first write, before anything was changed.
 */
export const ENTER = `${NOW}
local seat, lease = ARGV[2], tonumber(ARGV[3])
local claim = function(i)
  local at = 4 * i
  return ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
end
local known = {}
local waits = {
  rate = function(key, max, period, count)
    if count > max then return period end
    local limiting = tonumber(redis.call('LINDEX', key, text(max - count)) or 0)
    if limiting > now then return 0 end
    return limiting + period - now
  end,
  seats = function(key, max)
    if redis.call('ZCOUNT', key, '(' .. text(now), '+inf') < max then return 0 end
    return ${PERMITS_WAIT_MS}
  end,
  tokens = function(key, max, estimate)
    local since = now - ${TOKENS_PERIOD_MS}
    local left = -tonumber(redis.call('ZSCORE', key, '=') or 0)
    local past = {}
    local forget = function(from, to)
      for _, member in ipairs(redis.call('ZRANGEBYSCORE', key, from, to)) do
        left = left - tonumber(string.match(member, '%d+$'))
        table.insert(past, member)
      end
    end
    forget(1, text(since))
    forget('(' .. text(now), '+inf')
    known[key] = past
    if left == 0 or left + estimate <= max then return 0 end
    local all = redis.call('ZRANGEBYSCORE', key, '(' .. text(since), text(now), 'WITHSCORES')
    for at = 1, #all, 2 do
      left = left - tonumber(string.match(all[at], '%d+$'))
      if left == 0 or left + estimate <= max then return math.max(1, all[at + 1] - since) end
    end
    return 0
  end,
  backoff = function(key, free, longest, forgotten)
    local state = redis.call('HMGET', key, 'tries', 'at')
    local tries, at = tonumber(state[1] or 0), tonumber(state[2] or 0)
    if at + forgotten <= now then tries = 0 end
    known[key] = tries
    if tries < free or at > now then return 0 end
    return at + math.min(longest, ${BACKOFF_FIRST_MS} * 2 ^ (tries - free)) - now
  end,
}
local takes = {
  rate = function(key, max, period, count)
    while count > 0 do
      local times = {}
      for i = 1, math.min(count, 1000) do times[i] = text(now) end
      redis.call('LPUSH', key, unpack(times))
      count = count - #times
    end
    redis.call('LTRIM', key, 0, text(max - 1))
    keep(key, period)
  end,
  seats = function(key)
    redis.call('ZADD', key, text(now + lease), seat)
    redis.call('ZREMRANGEBYSCORE', key, '-inf', text(now))
    keep(key, lease)
  end,
  tokens = function(key, _, estimate)
    redis.call('ZADD', key, text(now), seat .. ':' .. text(estimate))
    redis.call('ZINCRBY', key, text(-estimate), '=')
    for _, member in ipairs(known[key]) do
      redis.call('ZREM', key, member)
      redis.call('ZINCRBY', key, string.match(member, '%d+$'), '=')
    end
    keep(key, ${TOKENS_PERIOD_MS})
  end,
  backoff = function(key, _, _, forgotten)
    redis.call('HSET', key, 'tries', known[key] + 1, 'at', text(now))
    keep(key, forgotten)
  end,
}
local full, wait = 0, 0
for i, key in ipairs(KEYS) do
  local kind, a, b, c = claim(i)
  local needed = waits[kind](key, a, b, c)
  if needed > 0 then
    if full == 0 then full = i end
    wait = math.max(wait, needed)
  end
end
if full > 0 then return { full, wait } end
for i, key in ipairs(KEYS) do
  local kind, a, b, c = claim(i)
  takes[kind](key, a, b, c)
end
return { 0, now }
`

/**
 * Releases the claims of a request. KEYS has one key per claim. ARGV has the id of the permit and
 * the time at which ENTER decided. Three values per key follow: the kind, the estimated tokens or
 * counted requests, and the used tokens.
 */
export const LEAVE = `
local seat, taken = ARGV[1], ARGV[2]
for i, key in ipairs(KEYS) do
  local kind, estimate, used = ARGV[3 * i], ARGV[3 * i + 1], ARGV[3 * i + 2]
  if kind == 'rate' then
    redis.call('LREM', key, estimate, taken)
  elseif kind == 'seats' then
    redis.call('ZREM', key, seat)
  elseif kind == 'backoff' then
    redis.call('DEL', key)
  elseif redis.call('ZREM', key, seat .. ':' .. estimate) == 1 then
    redis.call('ZADD', key, taken, seat .. ':' .. used)
    redis.call('ZINCRBY', key, estimate - used, '=')
  end
end
`

/**
 * Renews permits. A permit that a restarted Redis has lost is stored again. KEYS has the key of the
 * set of permits. ARGV has the time or 0, the lease time in milliseconds, and the permits.
 */
export const RENEW = `${NOW}
local runs_out = text(now + ARGV[2])
for i = 3, #ARGV do redis.call('ZADD', KEYS[1], runs_out, ARGV[i]) end
keep(KEYS[1], ARGV[2])
`

/**
 * Counts the processes that share limits. KEYS has the key of the set of processes. ARGV has the
 * time or 0, the lease time in milliseconds, and the name of the calling process (empty if it only
 * reads the count).
 */
export const BEAT = `${NOW}
if ARGV[3] ~= '' then redis.call('ZADD', KEYS[1], text(now + ARGV[2]), ARGV[3]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', text(now))
keep(KEYS[1], ARGV[2])
return redis.call('ZCARD', KEYS[1])
`
