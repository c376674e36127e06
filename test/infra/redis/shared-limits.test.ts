import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { PERMIT_LEASE_MS } from '#infra/redis/shared-limits.ts'
import { redisEngine, skipReason, startRedis, type TestRedis } from '../../support/test-redis.ts'
import { admitted, permitFor, permitsOf, rate, waitFor } from '../limits/limits-suite.ts'
import { type Opened, openShared, PATIENT_MS } from './open-shared-limits.ts'

const isHere = redisEngine !== null

describe.skipIf(!isHere)(`processes on one Redis${skipReason(isHere)}`, () => {
  let server: TestRedis
  let admin: Redis
  const open: Opened[] = []
  const process = async (leaseMs = PERMIT_LEASE_MS): Promise<Opened> => {
    const opened = await openShared(server.url, { leaseMs, answerMs: PATIENT_MS })
    open.push(opened)
    return opened
  }
  beforeAll(async () => {
    server = await startRedis()
    admin = new Redis(server.url)
  })
  afterEach(async () => {
    for (const opened of open.splice(0)) await opened.close()
  })
  afterAll(async () => {
    admin?.disconnect()
    await server?.stop()
  })

  it('count together: a limit of ten admits ten when each gets fifty requests', async () => {
    const [one, other] = [await process(), await process()]
    const [calls, room] = [rate(10, { periodMs: 60_000 }), permitsOf(4)]
    const counts = await Promise.all([admitted(one, 50, calls), admitted(other, 50, calls)])
    expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(10)
    const permit = await permitFor(one, room)
    expect(await admitted(other, 50, room)).toBe(3)
    permit.release({ isRefunded: false })
    await expect.poll(() => waitFor(other, room)).toBe(0)
  })

  it('share a place that one of them releases', async () => {
    const [one, other] = [await process(), await process()]
    const successes = rate(1, { periodMs: 60_000, isRefundable: true })
    const permit = await permitFor(one, successes)
    expect(await waitFor(other, successes)).toBeGreaterThan(59_000)
    permit.release({ isRefunded: true })
    await expect.poll(() => waitFor(other, successes)).toBe(0)
  })

  it('lose their permits when they are killed, and never while they live', async () => {
    const leaseMs = 3_000
    const [killed, alive, other] = [await process(leaseMs), await process(leaseMs), await process()]
    const [lost, kept] = [permitsOf(1), permitsOf(1)]
    await permitFor(killed, lost)
    await permitFor(alive, kept)
    killed.vanish()
    expect(await waitFor(other, lost)).toBe(1_000)
    const runsOut = async () => {
      const [, time] = await admin.zrange(keyOf(kept.key), 0, '-1', 'WITHSCORES')
      return Number(time)
    }
    const first = await runsOut()
    await expect.poll(() => waitFor(other, lost)).toBe(0)
    await expect.poll(runsOut).toBeGreaterThan(first)
    expect(await waitFor(other, kept)).toBe(1_000)
  })

  it('know the number of processes that decide requests', async () => {
    await admin.del('tallygate:instances')
    const [one, other] = [await process(), await process()]
    expect(one.instances()).toBe(1)
    await waitFor(one, rate(1))
    await waitFor(other, rate(1))
    await expect.poll(() => one.instances()).toBe(2)
    await other.close()
    await expect.poll(() => one.instances()).toBe(1)
  })

  it('store only keys that expire', async () => {
    const one = await process()
    await permitFor(one, rate(5), permitsOf(5))
    const keys = await admin.keys('tallygate:*')
    const lives = await Promise.all(keys.map((key) => admin.pttl(key)))
    expect(keys.length).toBeGreaterThan(2)
    expect(Math.min(...lives)).toBeGreaterThan(0)
  })
})

const keyOf = (key: string): string => `tallygate:{user:7}:seats:${key}`
