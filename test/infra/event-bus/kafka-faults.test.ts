import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createKafkaBus } from '#infra/event-bus/kafka/kafka-bus.ts'
import type { KafkaTimings } from '#infra/event-bus/kafka/kafka-timings.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import { kafkaForTests, placeOf } from '#test/support/kafka/kafka-for-tests.ts'
import { freePort } from '#test/support/kafka/kafka-process.ts'
import { QUICK_TIMINGS } from '#test/support/kafka/short-kafka-timings.ts'
import { appendSome, type BusFixture, expectFold, lanesOf, openBusFixture } from './conformance.ts'
import { startRecording } from './recording-worker.ts'

/** Each of a test's conditions may take 25 s on a busy machine. */
const kafka = await kafkaForTests()
const canBeKilled = !('skip' in kafka) && ['maven', 'container'].includes(kafka.kind)
const { isMissing, place } = placeOf(kafka)
const brokers = 'skip' in kafka ? [] : kafka.brokers
const nobody = [`127.0.0.1:${await freePort()}`]
/** Brokers that can't provide a topic with one partition per lane. */
const useless: [string, string[]][] = [['no broker', nobody]]
if (!('skip' in kafka) && kafka.kind === 'mock') useless.push(['the mock cluster', brokers])
afterAll(async () => {
  if (!('skip' in kafka)) await kafka.stop()
})

let fixture: BusFixture
let topic: string
let name: string
let settings: { timings: Partial<KafkaTimings>; brokers: readonly string[] }
beforeEach(async () => {
  topic = `errors-${randomUUID()}`
  name = `work-${randomUUID()}`
  settings = { timings: QUICK_TIMINGS, brokers }
  fixture = await openBusFixture((parts) => createKafkaBus({ ...parts, topic, ...settings }))
})
afterEach(() => fixture.close())

const work = async () => {
  const bus = await fixture.openBus()
  return startRecording({ pg: fixture.pg, store: fixture.store, bus, name })
}

/**
 * Timings with which Kafka delivers the events. The store feed only starts when a busy machine
 * delays Kafka for 10 s.
 */
const byKafkaAlone = { ...QUICK_TIMINGS, stallMs: 10_000 }

/** Appends events until `isOver` returns true. Returns the number of appended events. */
async function appendUntil(isOver: () => boolean): Promise<number> {
  let count = 0
  for (; !isOver(); count += 20) {
    await appendSome(fixture.store, 20)
    await delay(10)
  }
  return count
}

const withAdmin = async <T>(work: (admin: ReturnType<Kafka['admin']>) => Promise<T>) => {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    return await work(admin)
  } finally {
    await admin.disconnect()
  }
}

describe.skipIf(isMissing)(`a bus over Kafka (${place})`, () => {
  it('delivers events through the topic, and its consumer group shows the position', async () => {
    settings.timings = byKafkaAlone
    await work()
    await expectFold(fixture, name)
    await appendSome(fixture.store, 500)
    await expectFold(fixture, name)
    const ends = await withAdmin((admin) => admin.fetchTopicOffsets(topic))
    expect(ends).toHaveLength(ALL_LANES.length)
    await expect
      .poll(async () => {
        const groupId = `tallygate-${name}`
        const group = await withAdmin((admin) => admin.fetchOffsets({ groupId, topics: [topic] }))
        const at = new Map(group[0]?.partitions.map((each) => [each.partition, each.offset]))
        return ends.every(({ partition, high }) => Number(at.get(partition)) >= Number(high))
      })
      .toBe(true)
  })

  it('ignores the messages of another installation in the same topic', async () => {
    settings.timings = byKafkaAlone
    await work()
    await appendSome(fixture.store, 100)
    await expectFold(fixture, name)
    const producer = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).producer()
    await producer.connect()
    const headers = { after: '0', position: '900000', history: 'another' }
    const messages = ALL_LANES.map((partition) => ({ partition, headers, value: null }))
    await producer.send({ topic, messages })
    await producer.disconnect()
    await appendSome(fixture.store, 100)
    await expectFold(fixture, name)
  })

  it('continues after an event that is too big for a message', async () => {
    settings.timings = byKafkaAlone
    await work()
    await appendSome(fixture.store, 10)
    await expectFold(fixture, name)
    const text = 'x'.repeat(700_000)
    const event = { id: randomUUID(), type: 'Big', v: 1, data: { text } }
    const meta = { actor: 'user:1', cause: null, at: 1 }
    await fixture.store.append([
      { stream: 'account-1', expected: 'any', events: [{ ...event, meta }] },
    ])
    await appendSome(fixture.store, 10)
    await expectFold(fixture, name)
  })

  it('reads from the store the events that the topic no longer contains', async () => {
    settings.timings = byKafkaAlone
    const first = await work()
    await appendSome(fixture.store, 100)
    await expectFold(fixture, name)
    await first.stop()
    const before = await highs()
    await appendSome(fixture.store, 200)
    await expect.poll(highs).toBeGreaterThanOrEqual(before + 200)
    await withAdmin(async (admin) => {
      const ends = await admin.fetchTopicOffsets(topic)
      const partitions = ends.map(({ partition, high }) => ({ partition, offset: high }))
      await admin.deleteTopicRecords({ topic, partitions })
    })
    await work()
    await expectFold(fixture, name)
    await appendSome(fixture.store, 200)
    await expectFold(fixture, name)
  })

  it('creates its topic again after the topic was deleted', async () => {
    const workers = [await work(), await work()]
    await appendSome(fixture.store, 200)
    await expectFold(fixture, name)
    let isOver = false
    const appending = appendUntil(() => isOver)
    await withAdmin((admin) => admin.deleteTopics({ topics: [topic] }))
    await expect
      .poll(() => withAdmin(async (admin) => (await admin.listTopics()).includes(topic)))
      .toBe(true)
    isOver = true
    await appending
    await expectFold(fixture, name)
    await expect.poll(() => lanesOf(workers), { timeout: 25_000 }).toEqual(ALL_LANES)
  })
})

describe.skipIf(!canBeKilled)(`when the broker is killed (${place})`, () => {
  if ('skip' in kafka) return

  it('the event store feeds the lanes until the broker is back, each event once', async () => {
    const workers = [await work(), await work()]
    let heard = 0
    const watching = await fixture.openBus()
    watching.watch((position) => {
      heard = position
    })
    await appendSome(fixture.store, 200)
    await expectFold(fixture, name)
    let isOver = false
    const appending = appendUntil(() => isOver)
    await delay(300)
    const before = await highs()
    await kafka.kill()
    await delay(500)
    isOver = true
    await appending
    // The broker is still down.
    await expectFold(fixture, name)
    await appendSome(fixture.store, 100)
    await expectFold(fixture, name)
    const head = await fixture.store.headPosition()
    await expect.poll(() => heard).toBe(head)
    await kafka.restart()
    await expect
      .poll(async () => {
        await appendSome(fixture.store, 20)
        return (await highs()) > before && lanesOf(workers).join() === ALL_LANES.join()
      })
      .toBe(true)
    await expectFold(fixture, name)
  })
})

describe.each(useless)('with $0', (_what, where) => {
  it('a worker gets all events, a watcher is notified, and lanes are taken over', async () => {
    settings.brokers = where
    await appendSome(fixture.store, 100)
    const first = await fixture.openBus()
    const { pg, store } = fixture
    startRecording({ pg, store, bus: first, name })
    await expectFold(fixture, name)
    let heard = 0
    first.watch((position) => {
      heard = position
    })
    await appendSome(store, 100)
    await expectFold(fixture, name)
    const head = await store.headPosition()
    await expect.poll(() => heard).toBe(head)
    const second = await work()
    await first.close()
    await appendSome(store, 100)
    await expectFold(fixture, name)
    expect(lanesOf([second])).toEqual(ALL_LANES)
  })
})

/** Returns the number of messages that were ever written to the topic. */
async function highs(): Promise<number> {
  const ends = await withAdmin((admin) => admin.fetchTopicOffsets(topic))
  return ends.reduce((sum, { high }) => sum + Number(high), 0)
}
