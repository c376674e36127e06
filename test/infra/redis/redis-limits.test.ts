import { pino } from 'pino'
import { afterAll, beforeAll, describe } from 'vitest'
import { connectRedis } from '#infra/redis/connect-redis.ts'
import { createRedisLimits } from '#infra/redis/redis-limits.ts'
import { startSharedLimits } from '#infra/redis/shared-limits.ts'
import { redisEngine, skipReason, startRedis, type TestRedis } from '../../support/test-redis.ts'
import { limitsSuite } from '../limits/limits-suite.ts'

const isHere = redisEngine !== null
const log = pino({ level: 'silent' })

describe.skipIf(!isHere)(`limits in Redis${skipReason(isHere)}`, () => {
  let server: TestRedis
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server?.stop())

  limitsSuite(`on ${redisEngine}`, async (clock) => {
    const redis = await connectRedis(server.url, log)
    const options = { leaseMs: 10_000, clock: () => clock.now }
    const limits = await startSharedLimits({
      redis: createRedisLimits(redis, options),
      log,
      now: () => clock.now,
      answerMs: 10_000,
    })
    const close = async () => {
      await limits.close()
      redis.disconnect()
    }
    return { limits, close }
  })
})
