import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { connectRedis, type RedisClient } from '#infra/redis/connect-redis.ts'
import { createSharedCache } from '#infra/redis/shared-cache.ts'
import { budget } from '#test/support/time-limit.ts'
import { type OwnRedis, redisEngine, startOwnRedis } from '../../support/test-redis.ts'

const canHarm = redisEngine === 'redis-server'
const reason = canHarm ? '' : ' (skipped: there is no redis-server here)'
const HOUR = 3_600_000

describe.skipIf(!canHarm)(`the shared cache in Redis${reason}`, () => {
  let server: OwnRedis
  let client: RedisClient
  beforeEach(async () => {
    server = await startOwnRedis()
    client = await connectRedis(server.url, pino({ level: 'silent' }))
  })
  afterEach(async () => {
    client.disconnect()
    await server.stop()
  })

  it('stores, keeps, replaces and removes values, all of which expire', async () => {
    const cache = createSharedCache(client, { answerMs: 10_000 })
    expect(await cache.get('a')).toBeNull()
    cache.put('a', '1', HOUR, true)
    cache.put('a', '2', HOUR, true)
    expect(await cache.get('a')).toBe('1')
    cache.put('a', '3', HOUR)
    expect(await cache.get('a')).toBe('3')
    expect(await client.pttl('tallygate:cache:a')).toBeGreaterThan(HOUR - 60_000)
    cache.remove('a')
    expect(await cache.get('a')).toBeNull()
  })

  it('a Redis that hangs delays one look-up only, and is asked again later', async () => {
    let now = 0
    const cache = createSharedCache(client, { answerMs: 50, now: () => now })
    server.signal('SIGSTOP')
    const startedAt = performance.now()
    expect(await cache.get('a')).toBeNull()
    expect(performance.now() - startedAt).toBeLessThan(budget(500))
    expect(cache.get('a')).toBeNull()
    cache.put('a', '1', HOUR)
    server.signal('SIGCONT')
    now = 1_000
    await expect.poll(async () => await client.ping().catch(() => '')).toBe('PONG')
    const patient = createSharedCache(client, { answerMs: 10_000, now: () => now })
    expect(await patient.get('a')).toBeNull()
    patient.put('a', '2', HOUR)
    expect(await patient.get('a')).toBe('2')
  })

  it('without Redis, nothing rejects and nothing waits', async () => {
    const cache = createSharedCache(client)
    await server.kill()
    cache.put('a', '1', HOUR)
    cache.remove('a')
    expect(await cache.get('a')).toBeNull()
    expect(cache.get('a')).toBeNull()
  })

  it('commands without an answer are limited', async () => {
    const set = vi.fn(() => new Promise(() => {}))
    const cache = createSharedCache({ set } as unknown as RedisClient, { answerMs: 10_000 })
    for (let n = 0; n < 2_000; n += 1) cache.put(`${n}`, '1', HOUR)
    expect(set).toHaveBeenCalledTimes(1_000)
    expect(cache.get('a')).toBeNull()
  })
})
