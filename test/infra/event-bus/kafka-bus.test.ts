import { randomUUID } from 'node:crypto'
import { afterAll, describe } from 'vitest'
import { createKafkaBus } from '#infra/event-bus/kafka/kafka-bus.ts'
import { kafkaForTests } from '#test/support/kafka/kafka-for-tests.ts'
import { QUICK_TIMINGS } from '#test/support/kafka/quick-timings.ts'
import { eventBusConformance } from './conformance.ts'

const kafka = await kafkaForTests()
const isMissing = 'skip' in kafka || kafka.kind === 'mock'
const place = 'skip' in kafka ? `skipped, ${kafka.skip}` : kafka.kind

afterAll(async () => {
  if (!('skip' in kafka)) await kafka.stop()
})

describe.skipIf(isMissing)(`the bus over Kafka (${place})`, () => {
  if ('skip' in kafka) return
  const topic = `bus-${randomUUID()}`
  eventBusConformance(({ store, leases, log }) =>
    createKafkaBus({
      ...{ store, leases, log, topic, brokers: kafka.brokers, timings: QUICK_TIMINGS },
    }),
  )
})
