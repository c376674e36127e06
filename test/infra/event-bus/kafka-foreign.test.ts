import { randomBytes, randomUUID } from 'node:crypto'
import { Kafka, logLevel } from 'kafkajs'
import { type Logger, pino } from 'pino'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKafkaBus } from '#infra/event-bus/kafka/kafka-bus.ts'
import { createHistoryIdReader } from '#infra/event-bus/kafka/read-last-messages-and-history-id.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { kafkaForTests, placeOf } from '#test/support/kafka/kafka-for-tests.ts'
import { QUICK_TIMINGS } from '#test/support/kafka/short-kafka-timings.ts'
import { appendSome, type BusFixture, expectFold, openBusFixture } from './conformance.ts'
import { lowestCheckpoint, startRecording } from './recording-worker.ts'

const kafka = await kafkaForTests()
const { isMissing, place } = placeOf(kafka)
const brokers = 'skip' in kafka ? [] : kafka.brokers
afterAll(async () => {
  if (!('skip' in kafka)) await kafka.stop()
})

/**
 * With this timing Kafka delivers the events. The store feed only starts when a busy machine delays
 * Kafka for 10 s.
 */
const STALL_MS = 10_000

let fixture: BusFixture
let topic: string
let name: string
let warnings: string[]
let settings: { stallMs: number; isPublisher: boolean; wrap: (store: EventStore) => EventStore }
beforeEach(async () => {
  topic = `foreign-${randomUUID()}`
  name = `work-${randomUUID()}`
  warnings = []
  const log: Logger = pino({ level: 'warn' }, { write: (line) => void warnings.push(line) })
  settings = { stallMs: STALL_MS, isPublisher: true, wrap: (store) => store }
  fixture = await openBusFixture((parts) => {
    const { stallMs, isPublisher, wrap } = settings
    const timings = { ...QUICK_TIMINGS, stallMs }
    const store = wrap(parts.store)
    return createKafkaBus({ ...parts, store, log, topic, brokers, isPublisher, timings })
  })
})
afterEach(() => fixture.close())

const work = async () => {
  const bus = await fixture.openBus()
  return startRecording({ pg: fixture.pg, store: fixture.store, bus, name })
}

const unreadable = () => warnings.filter((line) => line.includes('unreadable Kafka message'))

type Foreign = { readonly key: string | null; readonly value: Buffer | null }

/**
 * Sends a foreign message to every lane, with and without headers that claim positions after the
 * head of the store.
 */
async function sendForeign(message: Foreign): Promise<void> {
  const head = await fixture.store.headPosition()
  const history = (await createHistoryIdReader(fixture.store)()) ?? ''
  const headers = { after: String(head), position: String(head + 40), history }
  const producer = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).producer()
  await producer.connect()
  for (const sent of [headers, {}]) {
    const messages = ALL_LANES.map((partition) => ({ ...message, partition, headers: sent }))
    for (const each of messages) await producer.send({ topic, messages: [each] })
  }
  await producer.disconnect()
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))
const kinds: [string, Foreign][] = [
  ['random bytes', { key: null, value: randomBytes(200) }],
  ['JSON of another shape', { key: 'a', value: json({ hello: [1, 2] }) }],
  ['JSON that is no object', { key: 'a', value: json(null) }],
  ['an event without its place', { key: 'a', value: json({ type: 'Happened', data: {} }) }],
  ['an empty value', { key: 'a', value: Buffer.alloc(0) }],
  ['a tombstone', { key: 'account-1', value: null }],
  ['a huge value', { key: null, value: randomBytes(900_000) }],
]

describe.skipIf(isMissing)(`a foreign message in a lane (${place})`, () => {
  it.each(kinds)(
    '%s: the worker processes the events before and after it once, in order',
    async (...kind) => {
      await work()
      await appendSome(fixture.store, 60)
      await expectFold(fixture, name)
      // On a busy machine, the consumer may join its group only after the first messages.
      const reported = async () => {
        await sendForeign(kind[1])
        await appendSome(fixture.store, 20)
        return unreadable().length
      }
      await expect.poll(reported, { interval: 1_000 }).toBe(ALL_LANES.length)
      await appendSome(fixture.store, 200)
      await expectFold(fixture, name)
    },
  )

  it('makes the worker read the store, although no message of the product follows', async () => {
    settings.isPublisher = false
    settings.stallMs = 600_000
    await appendSome(fixture.store, 40)
    await work()
    await expectFold(fixture, name)
    await appendSome(fixture.store, 40)
    // The message is sent repeatedly, because the consumer may not have joined its group yet.
    const lowest = async () => {
      await sendForeign({ key: 'a', value: randomBytes(20) })
      return lowestCheckpoint(fixture.pg, name)
    }
    await expect.poll(lowest).toBe(await fixture.store.headPosition())
    await expectFold(fixture, name)
    expect(unreadable()).toHaveLength(ALL_LANES.length)
  })
})

describe.skipIf(isMissing)(`when the history cannot be read (${place})`, () => {
  let failures = 0
  let isFailing = true
  /** Wraps a store so that it fails to read the first event, which identifies the history. */
  const failing = (store: EventStore): EventStore => ({
    ...store,
    readAll: async (after, limit) => {
      if (limit !== 1 || !isFailing) return store.readAll(after, limit)
      failures += 1
      throw new Error('the store does not answer')
    },
  })
  const workAndFail = async () => {
    failures = 0
    isFailing = true
    await appendSome(fixture.store, 40)
    await fixture.openBus()
    settings.isPublisher = false
    settings.wrap = failing
    await work()
    await expectFold(fixture, name)
    await appendSome(fixture.store, 200)
    // The messages that have arrived are retried without a further message.
    await expect.poll(() => failures).toBeGreaterThan(3 * ALL_LANES.length)
  }

  it('the lane continues when the history becomes readable, with no new message', async () => {
    settings.stallMs = 600_000
    await workAndFail()
    isFailing = false
    await expectFold(fixture, name)
  })

  it('the event store feeds the lanes while the history stays unreadable', async () => {
    settings.stallMs = 800
    await workAndFail()
    await expectFold(fixture, name)
  })
})
