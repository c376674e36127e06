import { afterAll, describe } from 'vitest'
import { startEventStoreDbServer } from '../support/event-store-db/server.ts'
import { kafkaForTests } from '../support/kafka/kafka-for-tests.ts'
import { testProduct } from '../support/test-product.ts'
import { redisEngine, startRedis } from '../support/test-redis.ts'
import { mainJobSuite } from './relay-and-bill-call-suite.ts'

const kafka = redisEngine === null ? { skip: 'no Redis' } : await kafkaForTests()
const skipped = 'skip' in kafka ? ` (skipped: ${kafka.skip})` : ''

describe.skipIf('skip' in kafka)(
  `relaying and billing a call on EventStoreDB, Kafka and Redis${skipped}`,
  { timeout: 60_000 },
  () => {
    const stops: (() => Promise<void>)[] = []
    afterAll(async () => {
      for (const stop of stops.reverse()) await stop()
    })
    mainJobSuite(async () => {
      if ('skip' in kafka) throw new Error(kafka.skip)
      const [store, redis] = [await startEventStoreDbServer(), await startRedis()]
      stops.push(() => kafka.stop(), store.stop, redis.stop)
      return await testProduct({
        engines: {
          eventStore: { url: store.url },
          kafkaBrokers: kafka.brokers,
          redisUrl: redis.url,
        },
      })
    })
  },
)
