import { pino } from 'pino'
import { isFull, type Limits } from '#infra/limits/port.ts'
import { connectRedis } from '#infra/redis/connect-redis.ts'
import { createRedisLimits } from '#infra/redis/redis-limits.ts'
import {
  PERMIT_LEASE_MS,
  type SharedLimits,
  startSharedLimits,
} from '#infra/redis/shared-limits.ts'

export type Opened = SharedLimits & {
  /** The logged messages in order. */
  readonly said: string[]
  /** Closes the connection without releasing anything, as if the process had been killed. */
  readonly vanish: () => void
}

/**
 * A time limit for Redis that a busy machine does not exceed, for tests that need Redis to decide.
 */
export const PATIENT_MS = 10_000

type Settings = { readonly leaseMs?: number; readonly answerMs?: number }

/** Opens the limits of one process as the product does. */
export async function openShared(url: string, settings: Settings = {}): Promise<Opened> {
  const { leaseMs = PERMIT_LEASE_MS, ...patience } = settings
  const said: string[] = []
  const log = pino(
    { level: 'info' },
    { write: (line: string) => void said.push((JSON.parse(line) as { msg: string }).msg) },
  )
  const client = await connectRedis(url, log)
  const limits = await startSharedLimits({
    redis: createRedisLimits(client, { leaseMs }),
    log,
    now: Date.now,
    ...patience,
  })
  return {
    ...limits,
    said,
    vanish: () => client.disconnect(),
    close: async () => {
      await limits.close()
      client.disconnect()
    },
  }
}

export type Load = {
  /** The number of decisions until now. */
  readonly decisions: () => number
  /** Ends the load. Returns the longest decision time in milliseconds. */
  readonly stop: () => Promise<number>
}

/**
 * Starts twenty callers. Each repeatedly acquires a permit for two limits and releases it. `stop`
 * rejects when a caller was rejected.
 */
export function underLoad(limits: Limits): Load {
  let isOver = false
  let msMax = 0
  let decisions = 0
  const caller = async (id: number): Promise<void> => {
    while (!isOver) {
      const before = performance.now()
      const permit = await limits.enter(`user:${id}`, [
        { kind: 'permits', key: `load:${id}`, max: 10 },
        { kind: 'rate', key: `load:${id}`, max: 1e6, periodMs: 1_000, isRefundable: true },
      ])
      msMax = Math.max(msMax, performance.now() - before)
      decisions += 1
      if (isFull(permit)) throw new Error(`full: ${JSON.stringify(permit)}`)
      // A real call does other work before it releases its permit.
      await new Promise((resume) => setTimeout(resume, 1))
      permit.release({ isRefunded: decisions % 2 === 0 })
    }
  }
  const callers = Promise.all(Array.from({ length: 20 }, (_, id) => caller(id)))
  return {
    decisions: () => decisions,
    stop: async () => {
      isOver = true
      await callers
      return msMax
    },
  }
}
