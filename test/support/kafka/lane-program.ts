import { setTimeout as delay } from 'node:timers/promises'
import { Pool } from 'pg'
import { pino } from 'pino'
import { createKafkaBus } from '#infra/event-bus/kafka/kafka-bus.ts'
import { createPostgresEventStore } from '#infra/event-store/postgres-event-store.ts'
import { createLeases } from '#infra/leases/exclusive-leases.ts'
import { startRecording } from '#test/infra/event-bus/recording-worker.ts'
import { QUICK_TIMINGS } from './short-kafka-timings.ts'

/**
 * Takes part in an event bus on Kafka until the process is killed. Prints `publishing` on the first
 * publication, and `written` or `fenced` after batches.
 */
const { databaseUrl, brokers, topic, work } = JSON.parse(process.argv[2] ?? '{}') as {
  databaseUrl: string
  brokers: string[]
  topic: string
  work?: string
}
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const log = pino(
  { level: 'info' },
  {
    write: (line) => (line.includes('publishes events to Kafka') ? print('publishing') : undefined),
  },
)
// Postgres ends a suspended process's transaction after one second, which releases its locks.
const limits = { idle_in_transaction_session_timeout: 1_000 }
const pg = new Pool({ connectionString: databaseUrl, max: 12, ...limits })
pg.on('error', () => {})
pg.on('connect', (client) => client.on('error', () => {}))
const store = await createPostgresEventStore({ connectionString: databaseUrl, log })
const leases = await createLeases(pg, log)
const isPublisher = work === undefined
const bus = await createKafkaBus({
  ...{ store, leases, log, brokers, topic, isPublisher, timings: QUICK_TIMINGS },
})
if (work !== undefined) {
  // Writes are slow, so that a signal usually arrives during a transaction.
  const beforeWrite = () => delay(50)
  const { batches } = startRecording({ pg, store, bus, name: work, beforeWrite })
  let [written, fenced] = [0, 0]
  setInterval(() => {
    if (batches.written > written) print('written')
    if (batches.fenced > fenced) print('fenced')
    written = batches.written
    fenced = batches.fenced
  }, 20)
}
