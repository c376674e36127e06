import type { Claim, Full, PermitEnd } from '../limits/port.ts'
import type { RedisClient } from './connect-redis.ts'
import { BEAT, ENTER, LEAVE, RENEW } from './limit-lua-scripts.ts'

/** A permit that Redis granted. `takenAt` is a time by the clock of the Redis server. */
export type RemotePermit = {
  readonly id: string
  readonly owner: string
  readonly claims: readonly Claim[]
  readonly takenAt: number
}

/** A limiter whose counts are in Redis. Methods reject when Redis does not answer. */
export type RedisLimits = {
  readonly enter: (
    id: string,
    owner: string,
    claims: readonly Claim[],
  ) => Promise<RemotePermit | Full>
  readonly release: (permit: RemotePermit, end: PermitEnd) => Promise<void>
  /**
   * Extends the leases of the permits. The permits of a killed process are not extended and expire.
   */
  readonly renew: (permits: Iterable<RemotePermit>) => Promise<void>
  /**
   * Registers this process in the group under the name `instance`. If `instance` is null, registers
   * nothing. Returns the number of registered processes.
   */
  readonly beat: (sharers: Sharers, instance: string | null) => Promise<number>
  readonly retire: (sharers: Sharers, instance: string) => Promise<void>
}

/**
 * A group of processes that divide limits among each other while Redis is unavailable. `calls` are
 * the relay processes, and `site` are the processes of the management API.
 */
export type Sharers = 'calls' | 'site'

export type RedisLimitsOptions = {
  readonly leaseMs: number
  /** Returns the time that tests use instead of the clock of Redis. 0 means the clock of Redis. */
  readonly clock?: () => number
}

type Script<T> = (...args: (string | number)[]) => Promise<T>
type Scripts = {
  readonly limitsEnter: Script<[number, number]>
  readonly limitsLeave: Script<null>
  readonly limitsRenew: Script<null>
  readonly limitsBeat: Script<number>
}

/**
 * The number of renewal commands that are sent together. Other work can run between two batches.
 */
const RENEWED_AT_ONCE = 100
const INSTANCES: Record<Sharers, string> = {
  calls: 'tallygate:instances:calls',
  site: 'tallygate:instances',
}

/** Returns the name that a kind of claim has in Redis, where permits are called `seats`. */
const storedKind = ({ kind }: Claim): string => (kind === 'permits' ? 'seats' : kind)

/**
 * Returns the Redis key of a claim. The keys of one owner share a hash tag, so that a decision
 * needs only one slot of a Redis cluster.
 */
const keyOf = (owner: string, claim: Claim): string =>
  `tallygate:{${owner}}:${storedKind(claim)}:${claim.key}`

export function createRedisLimits(redis: RedisClient, options: RedisLimitsOptions): RedisLimits {
  const { leaseMs, clock = () => 0 } = options
  redis.defineCommand('limitsEnter', { lua: ENTER })
  redis.defineCommand('limitsLeave', { lua: LEAVE })
  redis.defineCommand('limitsRenew', { lua: RENEW, numberOfKeys: 1 })
  redis.defineCommand('limitsBeat', { lua: BEAT, numberOfKeys: 1 })
  const scripts = redis as unknown as Scripts
  return {
    enter: async (id, owner, claims) => {
      const keys = claims.map((claim) => keyOf(owner, claim))
      const numbers = claims.flatMap(numbersOf)
      const [full, value] = await scripts.limitsEnter(
        claims.length,
        ...keys,
        clock(),
        id,
        leaseMs,
        ...numbers,
      )
      return full === 0 ? { id, owner, claims, takenAt: value } : { full: full - 1, waitMs: value }
    },
    release: async ({ id, owner, claims, takenAt }, end) => {
      const ending = claims.filter((claim) => isEnding(claim, end))
      if (ending.length === 0) return
      const keys = ending.map((claim) => keyOf(owner, claim))
      const used = ending.flatMap((claim) => [storedKind(claim), takenBy(claim), end.tokens ?? 0])
      await scripts.limitsLeave(ending.length, ...keys, id, takenAt, ...used)
    },
    renew: async (permits) => {
      const all = [...byKey(permits)]
      for (let from = 0; from < all.length; from += RENEWED_AT_ONCE) {
        const batch = all.slice(from, from + RENEWED_AT_ONCE)
        await Promise.all(
          batch.map(([key, ids]) => scripts.limitsRenew(key, clock(), leaseMs, ...ids)),
        )
      }
    },
    beat: (sharers, instance) =>
      scripts.limitsBeat(INSTANCES[sharers], clock(), leaseMs, instance ?? ''),
    retire: async (sharers, instance) => {
      await redis.zrem(INSTANCES[sharers], instance)
    },
  }
}

function numbersOf(claim: Claim): (string | number)[] {
  switch (claim.kind) {
    case 'rate':
      return ['rate', claim.max, claim.periodMs, claim.count ?? 1]
    case 'permits':
      return [storedKind(claim), claim.max, 0, 0]
    case 'tokens':
      return ['tokens', claim.max, claim.estimate, 0]
    case 'backoff':
      return ['backoff', claim.freeTries, claim.delayMsMax, claim.forgetMs]
  }
}

/**
 * Returns the amount that a claim adds to its count: the estimated tokens, or the number of
 * requests. Returns 0 for other kinds.
 */
function takenBy(claim: Claim): number {
  if (claim.kind === 'tokens') return claim.estimate
  return claim.kind === 'rate' ? (claim.count ?? 1) : 0
}

function isEnding(claim: Claim, { isRefunded, tokens }: PermitEnd): boolean {
  if (claim.kind === 'permits') return true
  if (claim.kind === 'tokens') return tokens !== undefined
  return isRefunded && (claim.kind === 'backoff' || claim.isRefundable)
}

function byKey(permits: Iterable<RemotePermit>): Map<string, string[]> {
  const ids = new Map<string, string[]>()
  for (const { id, owner, claims } of permits) {
    for (const claim of claims) {
      if (claim.kind !== 'permits') continue
      const key = keyOf(owner, claim)
      const existing = ids.get(key)
      if (existing === undefined) ids.set(key, [id])
      else existing.push(id)
    }
  }
  return ids
}
