import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { createRedisLimits } from '#infra/redis/redis-limits.ts'
import { createRedisShortLived } from '#infra/redis/redis-short-lived-values.ts'
import { createSharedCache, type SharedCache } from '#infra/redis/shared-cache.ts'
import { PERMIT_LEASE_MS, shareOf, startSharedLimits } from '#infra/redis/shared-limits.ts'
import { createMemoryLimits } from './memory-limits.ts'
import type { Limits } from './port.ts'
import {
  createMemoryShortLived,
  createPostgresShortLived,
  type ShortLived,
} from './short-lived-values.ts'

export type OpenLimits = {
  readonly limits: Limits
  readonly callLimits: Limits
  readonly shortLived: ShortLived
  /** The cache that all processes share, or null without Redis. */
  readonly sharedCache: SharedCache | null
  readonly close: () => Promise<void>
}

type Settings = {
  /** The address of Redis. Null keeps the counts in this process. */
  readonly redisUrl: string | null
  readonly secretKey: Uint8Array
  readonly log: Logger
  readonly now: () => number
  /**
   * The Postgres pool for short-lived values on sites without Redis. Without a pool, the values
   * stay in this process.
   */
  readonly pg?: Pool
  /**
   * The number of processes that accept requests on one port. Without Redis, each of them allows
   * its fraction of a limit.
   */
  readonly workers?: number
}

const monotonic = (): number => performance.now()

/**
 * Opens the limiter and the store of short-lived values. With Redis, all processes share both. An
 * unreachable Redis does not prevent the start.
 */
export async function openLimits(settings: Settings): Promise<OpenLimits> {
  const { redisUrl, secretKey, log, now, pg, workers = 1 } = settings
  if (redisUrl === null) {
    // The counts of a single process use the monotonic clock, which nobody can set.
    const own = createMemoryLimits(monotonic)
    const limits: Limits = {
      ...own,
      enter: (owner, claims) =>
        own.enter(owner, workers === 1 ? claims : claims.map((claim) => shareOf(claim, workers))),
    }
    const close = async () => own.close()
    const shortLived =
      pg === undefined
        ? createMemoryShortLived(monotonic)
        : await createPostgresShortLived(pg, secretKey, now)
    return { limits, callLimits: limits, shortLived, sharedCache: null, close }
  }
  // The client is imported only when it is needed, because loading it is slow.
  const { connectRedis } = await import('#infra/redis/connect-redis.ts')
  const client = await connectRedis(redisUrl, log)
  const redis = createRedisLimits(client, { leaseMs: PERMIT_LEASE_MS })
  const limits = await startSharedLimits({ redis, log, now: monotonic })
  return {
    limits,
    callLimits: limits.calls,
    shortLived: createRedisShortLived(client, secretKey),
    sharedCache: createSharedCache(client),
    close: async () => {
      await limits.close()
      client.disconnect()
    },
  }
}
