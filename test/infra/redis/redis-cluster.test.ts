import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { isFull } from '#infra/limits/port.ts'
import { connectRedis } from '#infra/redis/connect-redis.ts'
import { createRedisLimits } from '#infra/redis/redis-limits.ts'
import { createRedisShortLived } from '#infra/redis/redis-short-lived-values.ts'
import { startSharedLimits } from '#infra/redis/shared-limits.ts'
import { freePort, type OwnRedis, redisEngine, startOwnRedis } from '../../support/test-redis.ts'
import { limitsSuite, permitsOf, rate } from '../limits/limits-suite.ts'
import { shortLivedSuite } from '../limits/short-lived-suite.ts'
import { type Opened, openShared, PATIENT_MS } from './open-shared-limits.ts'

const canStart = redisEngine === 'redis-server'
const reason = canStart ? '' : ' (skipped: there is no redis-server here)'
const log = pino({ level: 'silent' })

describe.skipIf(!canStart)(`a Redis cluster of two${reason}`, () => {
  let nodes: OwnRedis[] = []
  const url = () => `${nodes[0]?.url}?cluster=true`
  beforeAll(async () => {
    const busPorts = [await freePort(), await freePort()]
    const clustered = (port: number) => ['--cluster-enabled', 'yes', '--cluster-port', `${port}`]
    nodes = await Promise.all(busPorts.map((port) => startOwnRedis(...clustered(port))))
    await join(nodes, busPorts)
  })
  afterAll(async () => {
    for (const node of nodes) await node.stop()
  })

  limitsSuite('limits on it', async (clock) => {
    const redis = await connectRedis(url(), log)
    const limits = await startSharedLimits({
      redis: createRedisLimits(redis, { leaseMs: 10_000, clock: () => clock.now }),
      log,
      now: () => clock.now,
      answerMs: PATIENT_MS,
    })
    const close = async () => {
      await limits.close()
      redis.disconnect()
    }
    return { limits, close }
  })

  shortLivedSuite('short-lived values on it', async () => {
    const redis = await connectRedis(url(), log)
    const close = async () => redis.disconnect()
    return { values: createRedisShortLived(redis, Buffer.alloc(32, 7)), close }
  })

  it('keeps the claims of one owner on one node, and uses both nodes', async () => {
    const processes: Opened[] = []
    for (let n = 0; n < 2; n += 1) {
      processes.push(await openShared(url(), { answerMs: PATIENT_MS }))
    }
    const [room, calls] = [permitsOf(100), rate(2, { periodMs: 60_000 })]
    for (let user = 0; user < 20; user += 1) {
      const claims = [
        { ...room, key: `of ${user}` },
        { ...calls, key: `of ${user}` },
      ]
      const entered = processes.flatMap((limits) =>
        [1, 2].map(() => limits.enter(`user:${user}`, claims)),
      )
      const outcomes = await Promise.all(entered)
      expect(outcomes.filter((outcome) => !isFull(outcome))).toHaveLength(2)
    }
    for (const node of nodes) {
      const admin = new Redis(node.url)
      expect((await admin.keys('tallygate:{user:*')).length).toBeGreaterThan(4)
      admin.disconnect()
    }
    for (const limits of processes) {
      expect(limits.isDegraded()).toBe(false)
      await limits.close()
    }
  })

  it('still decides for all owners when one of its nodes is killed', async () => {
    const limits = await openShared(url())
    await nodes[1]?.kill()
    const claim = rate(5, { periodMs: 60_000 })
    for (let user = 0; user < 20; user += 1) {
      const key = `after ${user}`
      const entered = Array.from({ length: 8 }, () =>
        limits.enter(`user:${user}`, [{ ...claim, key }]),
      )
      const outcomes = await Promise.all(entered)
      const admitted = outcomes.filter((outcome) => !isFull(outcome)).length
      // The limit is five. If Redis is lost during the requests, this process may admit five more.
      expect(admitted).toBeGreaterThanOrEqual(5)
    }
    expect(limits.said[0]).toMatch(/is unavailable/)
    await limits.close()
  })
})

async function join(nodes: readonly OwnRedis[], busPorts: readonly number[]): Promise<void> {
  const admins = nodes.map(({ url }) => new Redis(url))
  const [first, second] = admins
  const ranges = [
    [0, 8_191],
    [8_192, 16_383],
  ] as const
  for (const [index, range] of ranges.entries()) {
    await admins[index]?.call('CLUSTER', 'ADDSLOTSRANGE', ...range.map(String))
    // Distinct epochs are set, because nodes with equal epochs must first resolve the conflict.
    await admins[index]?.call('CLUSTER', 'SET-CONFIG-EPOCH', `${index + 1}`)
  }
  const meet = ['MEET', '127.0.0.1', `${nodes[1]?.port}`, `${busPorts[1]}`]
  await first?.call('CLUSTER', ...meet)
  for (const admin of [first, second]) {
    await vi.waitUntil(
      async () => /cluster_state:ok/.test(String(await admin?.call('CLUSTER', 'INFO'))),
      { timeout: 30_000 },
    )
  }
  for (const admin of admins) admin.disconnect()
}
