import type { Logger } from 'pino'
import { createMemoryLimits } from '../limits/memory-limits.ts'
import { createMemoryShortLived } from '../limits/memory-short-lived.ts'
import type { Limits } from '../limits/port.ts'
import type { ShortLived } from '../limits/short-lived.ts'
import { connectRedis } from './connect-redis.ts'
import { createRedisLimits } from './redis-limits.ts'
import { createRedisShortLived } from './redis-short-lived.ts'
import { SEAT_LEASE_MS, startSharedLimits } from './shared-limits.ts'

export type OpenLimits = {
  readonly limits: Limits
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
}

/** Limits and short-lived values, shared where there is a Redis. One away stops no start. */
export async function openLimits({ redisUrl, secretKey, log, now }: Settings): Promise<OpenLimits> {
  if (redisUrl === null) {
    const limits = createMemoryLimits(now)
    const close = async () => limits.close()
    return { limits, shortLived: createMemoryShortLived(now), close }
  }
  const client = await connectRedis(redisUrl, log)
  const redis = createRedisLimits(client, { leaseMs: SEAT_LEASE_MS })
  const limits = await startSharedLimits({ redis, log, now })
  return {
    limits,
    shortLived: createRedisShortLived(client, secretKey),
    close: async () => {
      await limits.close()
      client.disconnect()
    },
  }
}
