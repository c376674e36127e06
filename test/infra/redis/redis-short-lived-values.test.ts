import { randomBytes } from 'node:crypto'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ShortLivedUnavailable } from '#infra/limits/short-lived-values.ts'
import { connectRedis } from '#infra/redis/connect-redis.ts'
import { createRedisShortLived } from '#infra/redis/redis-short-lived-values.ts'
import { redisEngine, skipReason, startRedis, type TestRedis } from '../../support/test-redis.ts'
import { shortLivedSuite } from '../limits/short-lived-suite.ts'

const isHere = redisEngine !== null
const log = pino({ level: 'silent' })
const secretKey = randomBytes(32)

describe.skipIf(!isHere)(`short-lived values in Redis${skipReason(isHere)}`, () => {
  let server: TestRedis
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server?.stop())
  const open = async (key = secretKey) => {
    const redis = await connectRedis(server.url, log)
    const close = async () => redis.disconnect()
    return { values: createRedisShortLived(redis, key), close }
  }

  shortLivedSuite(`on ${redisEngine}`, () => open())

  it('are stored by one process and read by another with the same secret key', async () => {
    const [one, other, stranger] = [await open(), await open(), await open(randomBytes(32))]
    await one.values.put('state', 'abc', 'login', 60_000)
    expect(await stranger.values.peek('state', 'abc')).toBeNull()
    expect(await other.values.take('state', 'abc')).toBe('login')
    for (const { close } of [one, other, stranger]) await close()
  })

  it('contain no code, address or state in clear text, and all of them expire', async () => {
    const { values, close } = await open()
    const admin = new Redis(server.url)
    await values.put('code', 'canary@example.org', 'canary-654321', 60_000)
    await values.countTry('code', 'canary@example.org', 5)
    const keys = await admin.keys('*short-lived*')
    const dump = await Promise.all(keys.map(async (key) => [key, await admin.hgetall(key)]))
    expect(keys).toHaveLength(1)
    expect(JSON.stringify(dump)).not.toMatch(/canary/)
    expect(await admin.pttl(keys[0] ?? '')).toBeGreaterThan(50_000)
    admin.disconnect()
    await close()
  })

  it('cannot be read without Redis, so that no code is accepted', async () => {
    const { values, close } = await open()
    await values.put('code', 'a', '1', 60_000)
    await close()
    const asked = [
      values.take('code', 'a'),
      values.peek('code', 'a'),
      values.countTry('code', 'a', 5),
    ]
    for (const answer of asked) await expect(answer).rejects.toThrow(ShortLivedUnavailable)
  })
})
