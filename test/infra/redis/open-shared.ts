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
  /** What was logged, in order. */
  readonly said: string[]
  /** The connection goes, and nothing is left or said: as if the process had been killed. */
  readonly vanish: () => void
}

/** For tests of what Redis does: a machine that is busy for a moment must not look like a loss. */
export const PATIENT_MS = 10_000

type Settings = { readonly leaseMs?: number; readonly answerMs?: number }

/** Limits of one process, as the product opens them. */
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
  /** Ends it. The longest decision in milliseconds, and how many there were. */
  readonly stop: () => Promise<{ readonly msMax: number; readonly decisions: number }>
}

/** Twenty callers, each with two permits, one after the other. A rejection fails `stop`. */
export function underLoad(limits: Limits): Load {
  let isOver = false
  let msMax = 0
  let decisions = 0
  const caller = async (id: number): Promise<void> => {
    while (!isOver) {
      const before = performance.now()
      const permit = await limits.enter(`user:${id}`, [
        { kind: 'seats', key: `load:${id}`, max: 5 },
        { kind: 'rate', key: `load:${id}`, max: 1e6, periodMs: 1_000, isRefundable: true },
      ])
      msMax = Math.max(msMax, performance.now() - before)
      decisions += 1
      if (isFull(permit)) throw new Error(`full: ${JSON.stringify(permit)}`)
      // A call does other things too.
      await new Promise((resume) => setTimeout(resume, 1))
      permit.release({ isRefunded: decisions % 2 === 0 })
    }
  }
  const callers = Promise.all(Array.from({ length: 20 }, (_, id) => caller(id)))
  return {
    stop: async () => {
      isOver = true
      await callers
      return { msMax, decisions }
    },
  }
}
