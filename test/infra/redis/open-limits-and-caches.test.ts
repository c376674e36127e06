import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterEach, describe, expect, it } from 'vitest'
import { type OpenLimits, openLimits } from '#infra/limits/open-limits-and-caches.ts'
import { freePort, redisEngine, skipReason, startRedis } from '../../support/test-redis.ts'
import { admitted, rate } from '../limits/limits-suite.ts'

const open: OpenLimits[] = []
const opened = async (redisUrl: string | null): Promise<OpenLimits> => {
  const secretKey = Buffer.alloc(32, 5)
  const log = pino({ level: 'silent' })
  const made = await openLimits({ redisUrl, secretKey, log, now: Date.now })
  open.push(made)
  return made
}
afterEach(async () => {
  for (const made of open.splice(0)) await made.close()
})

const isHere = redisEngine !== null

describe('limits and short-lived values, as the product opens them', () => {
  it('are separate in each process without Redis', async () => {
    const [one, other] = [await opened(null), await opened(null)]
    const claim = rate(3, { periodMs: 60_000 })
    expect(await admitted(one.limits, 5, claim)).toBe(3)
    expect(await admitted(other.limits, 5, claim)).toBe(3)
    await one.shortLived.put('state', 'a', 'login', 60_000)
    expect(await other.shortLived.take('state', 'a')).toBeNull()
    expect(await one.shortLived.take('state', 'a')).toBe('login')
    expect(one.limits.isDegraded()).toBe(false)
  })

  it.skipIf(!isHere)(`are shared by processes on one Redis${skipReason(isHere)}`, async () => {
    const server = await startRedis()
    try {
      const [one, other] = [await opened(server.url), await opened(server.url)]
      const key = randomUUID()
      await one.shortLived.put('state', key, 'login', 60_000)
      expect(await other.shortLived.take('state', key)).toBe('login')
      const leftForOther = async () => {
        const claim = rate(3, { periodMs: 60_000 })
        await admitted(one.limits, 5, claim)
        return admitted(other.limits, 5, claim)
      }
      // The result is polled, because a busy machine may lose Redis for a moment.
      await expect.poll(leftForOther).toBe(0)
    } finally {
      await server.stop()
    }
  })

  it('start without an unreachable Redis, and report that they are degraded', async () => {
    const away = await opened(`redis://127.0.0.1:${await freePort()}`)
    expect(away.limits.isDegraded()).toBe(true)
    expect(await admitted(away.limits, 5, rate(3))).toBe(3)
  })
})
