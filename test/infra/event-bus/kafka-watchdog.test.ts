import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'
import { pino } from 'pino'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { detectStalledConsumer, keepConsuming } from '#infra/event-bus/kafka/consumer-session.ts'
import { createKafkaBus } from '#infra/event-bus/kafka/kafka-bus.ts'
import { ensureTopic } from '#infra/event-bus/kafka/kafka-client.ts'
import { KAFKA_TIMINGS } from '#infra/event-bus/kafka/kafka-timings.ts'
import { readLastMessages } from '#infra/event-bus/kafka/read-last-messages-and-history-id.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import { kafkaForTests, placeOf } from '#test/support/kafka/kafka-for-tests.ts'
import { QUICK_TIMINGS } from '#test/support/kafka/short-kafka-timings.ts'
import { appendSome, type BusFixture, expectFold, openBusFixture } from './conformance.ts'
import { startRecording } from './recording-worker.ts'

const kafka = await kafkaForTests()
const { isMissing, place } = placeOf(kafka)
const brokers = 'skip' in kafka ? [] : kafka.brokers
const client = new Kafka({
  brokers: brokers.length > 0 ? brokers : ['nowhere:1'],
  logLevel: logLevel.NOTHING,
})
afterAll(async () => {
  if (!('skip' in kafka)) await kafka.stop()
})
let fixture: BusFixture | null = null
afterEach(async () => {
  await fixture?.close()
  fixture = null
})

it('a topic with too few partitions is reported as an operatorError until it has all', async () => {
  let partitions = 4
  const joined = { few: ALL_LANES }
  const consumer = () => {
    const listeners = new Map<string, (event: { payload: unknown }) => void>()
    return {
      events: { CRASH: 'crash', GROUP_JOIN: 'join', HEARTBEAT: 'heartbeat' },
      on: (event: string, listener: () => void) => listeners.set(event, listener),
      connect: async () => {},
      subscribe: async () => {},
      run: async () => listeners.get('join')?.({ payload: { memberAssignment: joined } }),
      disconnect: async () => {},
    }
  }
  const admin = () => ({
    connect: async () => {},
    fetchTopicOffsets: async () =>
      ALL_LANES.slice(0, partitions).map((partition) => ({ partition })),
    disconnect: async () => {},
  })
  const session = keepConsuming({
    ...{ kafka: { consumer, admin } as unknown as Kafka, topic: 'few', groupId: 'few' },
    ...{ timings: { ...KAFKA_TIMINGS, reconnectMsMax: 50 }, log: pino({ level: 'silent' }) },
    onMessages: () => {},
  })
  expect(session.operatorError()).toBe(null)
  await expect.poll(session.operatorError).toBe('the Kafka topic few has 4 partitions of 8')
  expect(session.outOfGroupSince()).not.toBe(null)
  partitions = 8
  await expect.poll(session.operatorError).toBe(null)
  expect(session.outOfGroupSince()).toBe(null)
  await session.stop()
})

it('a consumer that crashes as it joins only fails the check of the topic’s end', async () => {
  const unheard: unknown[] = []
  const hear = (reason: unknown) => void unheard.push(reason)
  process.on('unhandledRejection', hear)
  const admin = () => ({
    connect: async () => {},
    fetchTopicOffsets: async () => [{ partition: 0, low: '0', high: '7' }],
    disconnect: async () => {},
  })
  // A consumer like that of kafkajs, which has already left its group when it reports a crash.
  const consumer = () => {
    let crash = (_event: unknown): void => {}
    return {
      events: { CRASH: 'crash' },
      on: (_event: string, listener: typeof crash) => {
        crash = listener
      },
      connect: async () => {},
      subscribe: async () => {},
      run: async () => crash({ payload: { error: new Error('the broker went') } }),
      seek: () => {
        throw new Error('Consumer group was not initialized')
      },
      disconnect: async () => {},
    }
  }
  const reading = readLastMessages({ admin, consumer } as unknown as Kafka, 'any', KAFKA_TIMINGS)
  await expect(reading).rejects.toThrow('not initialized')
  await delay(10)
  process.off('unhandledRejection', hear)
  expect(unheard).toEqual([])
})

describe.skipIf(isMissing)(`a consumer (${place})`, () => {
  it('is replaced when it sends no heartbeat, and no event is lost or repeated', async () => {
    const name = `work-${randomUUID()}`
    const topic = `watchdog-${randomUUID()}`
    const onlyKafka = { ...QUICK_TIMINGS, stallMs: 600_000, outOfGroupMs: 600_000 }
    // The heartbeat interval is longer than the time after which a silent consumer is replaced.
    const timings = {
      ...{ ...onlyKafka, silentMs: 1_500, heartbeatMs: 3_000, sessionTimeoutMs: 5_000 },
    }
    fixture = await openBusFixture((parts) => createKafkaBus({ ...parts, brokers, topic, timings }))
    const { pg, store } = fixture
    await appendSome(store, 20)
    const bus = await fixture.openBus()
    startRecording({ pg, store, bus, name })
    const members = new Set<string>()
    const admin = client.admin()
    await admin.connect()
    await expect
      .poll(async () => {
        await appendSome(store, 20)
        const { groups } = await admin.describeGroups([`tallygate-${name}`])
        for (const { memberId } of groups[0]?.members ?? []) members.add(memberId)
        return members.size
      })
      .toBeGreaterThan(2)
    await admin.disconnect()
    // A busy machine may take longer than this consumer is given to join its group and to fetch.
    await bus.close()
    Object.assign(timings, onlyKafka, { silentMs: 60_000 })
    startRecording({ pg, store, bus: await fixture.openBus(), name })
    await expectFold(fixture, name)
  })

  it('is stalled if new messages do not arrive, but not if there are no new messages', async () => {
    const topic = `deaf-${randomUUID()}`
    await ensureTopic(client, topic)
    let deafCount = 0
    let lastMessageAt = Number.NEGATIVE_INFINITY
    const watching = detectStalledConsumer({
      ...{ kafka: client, topic, timings: { silentMs: 200 } },
      isSuspected: () => true,
      lastMessageAt: (lane) => (lane === 3 ? lastMessageAt : null),
      onStalled: () => {
        deafCount += 1
      },
    })
    const producer = client.producer()
    await producer.connect()
    const send = (partition: number) =>
      producer.send({ topic, messages: [{ partition, value: null }] })
    await delay(600)
    expect(deafCount).toBe(0)
    for (const lane of ALL_LANES.filter((each) => each !== 3)) await send(lane)
    await delay(600)
    expect(deafCount).toBe(0)
    await expect.poll(() => send(3).then(() => deafCount)).toBeGreaterThan(0)
    const coming = setInterval(() => {
      lastMessageAt = performance.now()
    }, 20)
    lastMessageAt = performance.now()
    await delay(400)
    deafCount = 0
    for (let sent = 0; sent < 10; sent += 1) {
      await send(3)
      await delay(50)
    }
    expect(deafCount).toBe(0)
    clearInterval(coming)
    watching.stop()
    await producer.disconnect()
  })
})
