import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { createMemoryLimits } from '../limits/memory-limits.ts'
import { createMemoryShortLived } from '../limits/memory-short-lived.ts'
import type { Limits } from '../limits/port.ts'
import { createPostgresShortLived } from '../limits/postgres-short-lived.ts'
import type { ShortLived } from '../limits/short-lived.ts'
import { connectRedis } from './connect-redis.ts'
import { createRedisLimits } from './redis-limits.ts'
import { createRedisShortLived } from './redis-short-lived.ts'
import { SEAT_LEASE_MS, shareOf, startSharedLimits } from './shared-limits.ts'

export type OpenLimits = {
  readonly limits: Limits
  /** Of the relay's calls. */
  readonly callLimits: Limits
  readonly shortLived: ShortLived
  readonly close: () => Promise<void>
}

type Settings = {
  /** null: everything is this process's own. */
  readonly redisUrl: string | null
  readonly secretKey: Uint8Array
  readonly log: Logger
  /** Unix milliseconds. */
  readonly now: () => number
  /** Keeps short-lived values where there is no Redis; without it, they are this process's own. */
  readonly pg?: Pool
  /** How many processes serve one port: without Redis, each has its share of the limits. */
  readonly workers?: number
}

const monotonic = (): number => performance.now()

/** Limits and short-lived values, shared where there is a Redis. One away stops no start. */
export async function openLimits(settings: Settings): Promise<OpenLimits> {
  const { redisUrl, secretKey, log, now, pg, workers = 1 } = settings
  if (redisUrl === null) {
    // Counts of this process alone need no clock that others share, and none that can be set.
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
    return { limits, callLimits: limits, shortLived, close }
  }
  const client = await connectRedis(redisUrl, log)
  const redis = createRedisLimits(client, { leaseMs: SEAT_LEASE_MS })
  const limits = await startSharedLimits({ redis, log, now: monotonic })
  return {
    limits,
    callLimits: limits.calls,
    shortLived: createRedisShortLived(client, secretKey),
    close: async () => {
      await limits.close()
      client.disconnect()
    },
  }
}
