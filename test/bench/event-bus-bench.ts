import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'pg'
import { pino } from 'pino'
import { createDirectBus } from '#infra/event-bus/brokerless-bus.ts'
import { createKafkaBus } from '#infra/event-bus/kafka/kafka-bus.ts'
import { KAFKA_TIMINGS } from '#infra/event-bus/kafka/kafka-timings.ts'
import { ALL_LANES } from '#infra/event-bus/lane-of-stream.ts'
import type { EventBus } from '#infra/event-bus/port.ts'
import type { EventStore } from '#infra/event-store/port.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import { createLeases } from '#infra/leases/exclusive-leases.ts'
import { startEmbeddedPostgres } from '#infra/postgres/embedded-postgres.ts'
import { kafkaForTests } from '../support/kafka/kafka-for-tests.ts'

/**
 * Measures each event bus with events of 1 KB, from before the append to the batch that a worker
 * receives. Prints the maximum events per second, and the latency (ms) at 500 events per second.
 * All processes, including the broker, share this machine.
 * Parameter: seconds per measurement (8).
 */
const SECONDS = Number(process.argv[2] ?? 8)
const APPENDERS = 100
const STEADY_PER_SECOND = 500
const STREAMS = 400
const padding = 'x'.repeat(700)
const log = pino({ level: 'warn' })

const append = async (store: EventStore, count: number): Promise<void> => {
  const stream = `account-${Math.floor(Math.random() * STREAMS)}`
  const events = Array.from({ length: count }, () => ({
    ...{ id: randomUUID(), type: 'CallSettled', v: 1, data: { padding } },
    meta: { actor: 'token:9', cause: 'request', at: Date.now() },
  }))
  await store.append([{ stream, expected: 'any', events }])
}

async function measure(store: EventStore, bus: EventBus) {
  const lanes = new Set<number>()
  let received = 0
  let lateness: number[] = []
  const work = bus.work(`bench-${randomUUID()}`, {
    onGained: async (gained) => {
      for (const lane of gained) lanes.add(lane)
    },
    onLost: (lost) => {
      for (const lane of lost) lanes.delete(lane)
    },
    onBatch: async ({ events }) => {
      received += events.length
      const now = Date.now()
      for (const { meta } of events) lateness.push(now - meta.at)
    },
  })
  while (lanes.size < ALL_LANES.length) await delay(50)
  // The topic's first message and each lane's first batch are not measured.
  await append(store, 1)
  await delay(3_000)
  received = 0
  let sent = 0
  const begin = performance.now()
  const appender = async (): Promise<void> => {
    for (; performance.now() - begin < SECONDS * 1_000; sent += 5) await append(store, 5)
  }
  await Promise.all(Array.from({ length: APPENDERS }, appender))
  while (received < sent) await delay(5)
  const perSecond = received / ((performance.now() - begin) / 1_000)
  lateness = []
  const appends: Promise<void>[] = []
  for (let tick = 0; tick < SECONDS * 100; tick += 1) {
    for (let each = 0; each < STEADY_PER_SECOND / 100; each += 1) appends.push(append(store, 1))
    await delay(10)
  }
  await Promise.all(appends)
  while (lateness.length < appends.length) await delay(5)
  await work.stop()
  const sorted = lateness.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
  return { eventsPerSecond: Math.round(perSecond), p50Ms: at(0.5), p99Ms: at(0.99) }
}

const dataDir = mkdtempSync(join(tmpdir(), 'tallygate-bench-'))
const postgres = await startEmbeddedPostgres({ dataDir, log })
const pg = new Pool({ connectionString: postgres.connectionString })
const store = await createPostgresEventStore({
  connectionString: postgres.connectionString,
  log,
})
const kafka = await kafkaForTests()
try {
  const leases = await createLeases(pg, log)
  const direct = createDirectBus({ store, leases, log })
  console.log('direct', await measure(store, direct))
  await direct.close()
  if ('skip' in kafka || kafka.kind === 'mock') console.log('Kafka is not here')
  else {
    const { brokers } = kafka
    // With this timing, events never come from the store, even if the broker is slow.
    const timings = { ...KAFKA_TIMINGS, stallMs: 600_000 }
    const bus = await createKafkaBus({ brokers, store, leases, log, timings })
    console.log(`Kafka (${kafka.kind})`, await measure(store, bus))
    await bus.close()
  }
} finally {
  if (!('skip' in kafka)) await kafka.stop()
  await store.close()
  await pg.end()
  await postgres.stop()
  rmSync(dataDir, { recursive: true, force: true })
}
