/**
 * What the shared store holds, and the scripts that write it. Each script is atomic.
 *
 *   acuity:meta           store: random name of this store │ version: of the last change │ order: of the last key
 *   acuity:keys           key id → order, a space, the record as JSON
 *   acuity:digests        digest → key id
 *   acuity:changed        key ids by the version of their last change
 *   acuity:tokens         version, a space, the random token of its writer: by version, the last ones
 *   acuity:replicas       replicas by the time they were last heard of
 *   acuity:replica:NAME   number of a replica's last report: a report sent twice counts once
 *   acuity:buckets        key id → tokens spent, a space, as of when
 *   acuity:usage:DAY      key id → predictions of that UTC day
 *   acuity:leases:DAY     key id, |, replica → how much of the day's quota is lent to it; key id, | → the count before
 *                         lost counts were written back
 *   acuity:mending        when a loss or an outage of the store was last noticed
 *   acuity:lost           when a loss was last noticed; identifies the loss
 */
export const KEYS = {
  meta: 'acuity:meta',
  keys: 'acuity:keys',
  digests: 'acuity:digests',
  changed: 'acuity:changed',
  tokens: 'acuity:tokens',
  replicas: 'acuity:replicas',
  buckets: 'acuity:buckets',
  mending: 'acuity:mending',
  lost: 'acuity:lost',
} as const;

/** The channel on which changes of keys are announced. */
export const CHANNEL = 'acuity:changes';

export function replicaKey(replica: string): string {
  return `acuity:replica:${replica}`;
}

export function usageKey(day: number): string {
  return `acuity:usage:${day}`;
}

export function leasesKey(day: number): string {
  return `acuity:leases:${day}`;
}

/**
 * A replica silent for this long has no share, and its lent quota is free again; the replica applies the same rule.
 */
export const REPLICA_SILENT_MS = 5000;

/** The argument of `WRITE`, as JSON. */
export interface WriteOrder {
  /** The name to give the store if it has none yet. */
  readonly store: string;
  /** Random: distinguishes this version from another with the same number. */
  readonly token: string;
  readonly channel: string;
  /** Write only if there is no store yet. */
  readonly isFirst?: true;
  /** Skip keys that exist already. */
  readonly isMissingOnly?: true;
  /** The record to replace, before and after. */
  readonly replace?: { readonly id: string; readonly was: string; readonly now: string };
  readonly add: readonly { readonly id: string; readonly digest: string; readonly text: string }[];
}

/** `WRITE` answers with this in place of the number of keys added. */
export const REPLACED_MEANWHILE = -1;
export const KEY_TWICE = -2;

/** Tokens and changes of this many versions are kept; a reader further back reads all keys, in pieces. */
const CHANGES_MAX = 1000;

/** KEYS: meta, keys, digests, changed, tokens. Writes all keys or none. */
export const WRITE = `
local meta, keys, digests, changed, tokens = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local order = cjson.decode(ARGV[1])
local isThere = redis.call('HEXISTS', meta, 'store') == 1
if order.isFirst and isThere then return 0 end
if order.replace and redis.call('HGET', keys, order.replace.id) ~= order.replace.was then return ${REPLACED_MEANWHILE} end
local adds = {}
local ids, seen = {}, {}
for _, key in ipairs(order.add) do
  local isKnown = ids[key.id] or seen[key.digest] or redis.call('HEXISTS', keys, key.id) == 1
    or redis.call('HEXISTS', digests, key.digest) == 1
  if isKnown and not order.isMissingOnly then return ${KEY_TWICE} end
  if not isKnown then
    ids[key.id], seen[key.digest] = true, true
    adds[#adds + 1] = key
  end
end
if not isThere then redis.call('HSET', meta, 'store', order.store) end
if #adds == 0 and not order.replace and isThere then return 0 end
local version = redis.call('HINCRBY', meta, 'version', 1)
redis.call('ZADD', tokens, version, string.format('%d ', version) .. order.token)
redis.call('ZREMRANGEBYSCORE', tokens, '-inf', version - ${CHANGES_MAX})
if order.replace then
  redis.call('HSET', keys, order.replace.id, order.replace.now)
  redis.call('ZADD', changed, version, order.replace.id)
end
for _, key in ipairs(adds) do
  local place = redis.call('HINCRBY', meta, 'order', 1)
  redis.call('HSET', keys, key.id, string.format('%d ', place) .. key.text)
  redis.call('HSET', digests, key.digest, key.id)
  redis.call('ZADD', changed, version, key.id)
end
redis.call('PUBLISH', order.channel, version)
return #adds
`;

/**
 * KEYS: meta, keys, changed, tokens. ARGV: name, version and token of the store as known to the reader. Answers name,
 * version, token, 1 if the store continues the known version or 0 if all keys have to be read, and the keys changed
 * since, as stored. A version without a token, as older writers leave it, continues only itself.
 */
export const LOOK = `
local function tokenOf(version)
  local found = redis.call('ZRANGEBYSCORE', KEYS[4], version, version)[1]
  return found and string.match(found, '%S+$') or ''
end
local store = redis.call('HGET', KEYS[1], 'store')
if not store then return {'', '0', '', ARGV[1] == '' and 1 or 0} end
local version = redis.call('HGET', KEYS[1], 'version') or '0'
local token = tokenOf(version)
if store ~= ARGV[1] then return {store, version, token, 0} end
if version == ARGV[2] and token == ARGV[3] then return {store, version, token, 1} end
if ARGV[3] == '' or tokenOf(ARGV[2]) ~= ARGV[3] then return {store, version, token, 0} end
local ids = redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. ARGV[2], '+inf', 'LIMIT', 0, ${CHANGES_MAX} + 1)
if #ids > ${CHANGES_MAX} then return {store, version, token, 0} end
local answer = {store, version, token, 1}
for _, id in ipairs(ids) do answer[#answer + 1] = redis.call('HGET', KEYS[2], id) or '' end
return answer
`;

/** What one replica reports for one key, as JSON. */
export interface ReportedKey {
  readonly id: string;
  /** Index of the day among those of the report, from 0. */
  readonly day: number;
  /** Predictions since the last report; negative if some were refunded. */
  readonly count: number;
  /** The fleet's count of that day as of the last answer; written back where the store has less. */
  readonly known: number;
  /** No answer about this key since the store lost something. */
  readonly isBack: boolean;
  /** How much of the day's quota the replica may still use. */
  readonly held: number;
  /** Tokens taken since the last report. */
  readonly tokens: number;
  /** Tokens that the replica's own bucket lacks. */
  readonly spent: number;
  /** 0: without that limit. */
  readonly ratePerS: number;
  readonly dailyMax: number;
}

export interface Report {
  readonly replica: string;
  /** One more than the last answered report: a store with a lower number has lost something. */
  readonly number: number;
  /** The last loss that this replica knows of; '0' for none. */
  readonly lost: string;
  /** Sent before without an answer: others may already know its counts. */
  readonly isAgain: boolean;
  /** After a longer silence: the replica's bucket says more than the tokens taken meanwhile. */
  readonly isReturn: boolean;
  /** The last report: nothing is lent to this replica any more. */
  readonly isLast: boolean;
  readonly keys: readonly ReportedKey[];
}

/**
 * After a loss or a time without replicas, each keeps what it holds for this long, to let the others report first.
 */
const MENDING_MS = 1000;

/**
 * KEYS: replica's number, replicas, buckets, mending, lost, and for each day its usage and its leases. ARGV: a
 * report. Answers the number of replicas, 1 while others are awaited (else 0), 1 if the store has lost something of
 * this replica's (else 0), and the last loss. Then for each key: the tokens that the fleet's bucket lacks, how much
 * of the day's quota this replica may use until its next report (-1: without a quota), and the fleet's count of that
 * day.
 *
 * A lent part counts as held until the report after the one that took it back, because that answer may be lost. The
 * highest count known to any replica is written back, and what each has counted since is added. A report that may be
 * part of that highest count, because it arrived before the loss, is not added: nothing counts twice.
 */
export const REPORT = `
local report = cjson.decode(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local last = tonumber(redis.call('GET', KEYS[1]) or '0')
local isNew, isLost = last < report.number, last < report.number - 1
if isNew then redis.call('SET', KEYS[1], report.number, 'EX', 86400) end
local newest = redis.call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2]
local mending, lost = tonumber(redis.call('GET', KEYS[4]) or '0'), redis.call('GET', KEYS[5]) or '0'
local function isMending()
  return now >= mending and now - mending < ${MENDING_MS}
end
local wasAway = newest and now - newest > ${MENDING_MS}
local isFirst = isLost and tonumber(report.lost) >= tonumber(lost)
if isFirst then
  lost = string.format('%.3f', now)
  redis.call('SET', KEYS[5], lost, 'EX', 172800)
end
if isFirst or wasAway then
  mending = now
  redis.call('SET', KEYS[4], string.format('%.3f', now), 'EX', 60)
end
local isDoubtful = isNew and report.isAgain and tonumber(report.lost) < tonumber(lost)
redis.call('ZADD', KEYS[2], now, report.replica)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ${REPLICA_SILENT_MS})
local live = redis.call('ZRANGE', KEYS[2], 0, -1)
local answer = {#live, isMending() and 1 or 0, isLost and 1 or 0, lost}
local function writeBack(key, known, counted, leases)
  local loss, before = string.match(redis.call('HGET', leases, key.id .. '|') or '', '^(%S+) (%S+)$')
  local isKept = loss == lost
  before = isKept and tonumber(before) or counted
  local highest = math.max(before, known)
  if not isKept or highest > before then
    redis.call('HSET', leases, key.id .. '|', lost .. string.format(' %d', highest))
    redis.call('EXPIRE', leases, 172800)
  end
  return highest - before
end
for _, key in ipairs(report.keys) do
  local usage, leases = KEYS[6 + 2 * key.day], KEYS[7 + 2 * key.day]
  local counted = tonumber(redis.call('HGET', usage, key.id) or '0')
  local known = (isLost or key.isBack) and key.known or 0
  if isDoubtful then known = key.known + key.count end
  local more = lost ~= '0' and writeBack(key, known, counted, leases) or 0
  if isNew and not isDoubtful then more = more + key.count end
  if more ~= 0 then
    counted = redis.call('HINCRBY', usage, key.id, more)
    redis.call('EXPIRE', usage, 34560000)
  end
  local spent = 0
  if key.ratePerS > 0 then
    local bucket = redis.call('HGET', KEYS[3], key.id)
    if bucket then
      local tokens, at = string.match(bucket, '^(%S+) (%S+)$')
      spent = math.max(0, tonumber(tokens) - math.max(0, now - tonumber(at)) * key.ratePerS / 1000)
    end
    if isNew then
      if report.isReturn or isLost then spent = math.max(spent, key.spent) else spent = spent + key.tokens end
      redis.call('HSET', KEYS[3], key.id, string.format('%.3f %.3f', spent, now))
    end
  end
  local grant = -1
  if key.dailyMax > 0 then
    local left = math.max(0, key.dailyMax - counted)
    if isMending() then grant = math.min(left, key.held)
    else
      local fields = {}
      for _, replica in ipairs(live) do
        if replica ~= report.replica then fields[#fields + 1] = key.id .. '|' .. replica end
      end
      local lent = 0
      if #fields > 0 then
        for _, lease in ipairs(redis.call('HMGET', leases, unpack(fields))) do lent = lent + tonumber(lease or '0') end
      end
      grant = math.max(0, math.min(left - lent, math.max(1, math.floor(left / #live))))
    end
    redis.call('HSET', leases, key.id .. '|' .. report.replica, math.max(grant, key.held))
    redis.call('EXPIRE', leases, 172800)
  end
  answer[#answer + 1] = string.format('%.3f', spent)
  answer[#answer + 1] = string.format('%d', grant)
  answer[#answer + 1] = string.format('%d', counted)
end
if report.isLast then redis.call('ZREM', KEYS[2], report.replica) end
return answer
`;
