import { randomUUID } from 'node:crypto'
import { afterAll, describe } from 'vitest'
import { createKafkaBus } from '#infra/event-bus/kafka/kafka-bus.ts'
import { kafkaForTests, placeOf } from '#test/support/kafka/kafka-for-tests.ts'
import { QUICK_TIMINGS } from '#test/support/kafka/short-kafka-timings.ts'
import { eventBusConformance } from './conformance.ts'

/** Each of a test's conditions may take 25 s on a busy machine. */
const kafka = await kafkaForTests()
const { isMissing, place } = placeOf(kafka)

afterAll(async () => {
  if (!('skip' in kafka)) await kafka.stop()
})

describe.skipIf(isMissing)(`the bus over Kafka (${place})`, () => {
  const brokers = 'skip' in kafka ? [] : kafka.brokers
  const topic = `bus-${randomUUID()}`
  eventBusConformance(({ store, leases, log }) =>
    createKafkaBus({
      ...{ store, leases, log, topic, brokers, timings: QUICK_TIMINGS },
    }),
  )
})
