import { randomUUID } from 'node:crypto'
import { afterAll, describe, vi } from 'vitest'
import { createKafkaBus } from '#infra/event-bus/kafka/kafka-bus.ts'
import { kafkaForTests } from '#test/support/kafka/kafka-for-tests.ts'
import { QUICK_TIMINGS } from '#test/support/kafka/quick-timings.ts'
import { eventBusConformance } from './conformance.ts'

/** Each waits for several things, of which any may take its 25 s on a busy machine. */
vi.setConfig({ testTimeout: 60_000 })

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
