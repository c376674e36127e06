import type { Logger } from 'pino'
import type { EventStore } from '../../event-store/port.ts'
import type { Leases } from '../../leases/exclusive-leases.ts'
import { createOpenResources } from '../lane-of-stream.ts'
import type { EventBus } from '../port.ts'
import { createKafkaClient, ensureTopic, within } from './kafka-client.ts'
import { createKafkaLaneWorker } from './kafka-lane-worker.ts'
import { KAFKA_TIMINGS, type KafkaTimings } from './kafka-timings.ts'
import { publish } from './publisher.ts'
import { createHistory } from './read-last-messages.ts'
import { watchPositions } from './watch-committed-positions.ts'

export type KafkaBusOptions = {
  readonly brokers: readonly string[]
  readonly store: EventStore
  readonly leases: Leases
  readonly log: Logger
  readonly topic?: string
  /** False if only other processes may publish events to Kafka. */
  readonly isPublisher?: boolean
  readonly timings?: Partial<KafkaTimings>
}

export const KAFKA_TOPIC = 'tallygate-events'
/**
 * The maximum time that the process start may wait for the Kafka topic to be created or checked.
 * After this time, the process starts without Kafka.
 */
const ENSURE_TOPIC_MS_MAX = 5_000

/**
 * Creates the event bus on Kafka. One process publishes committed events, and all processes consume
 * them. While the brokers are unreachable, events are read from the event store.
 */
export async function createKafkaBus(options: KafkaBusOptions): Promise<EventBus> {
  const { brokers, store, leases, log, topic = KAFKA_TOPIC, isPublisher = true } = options
  const timings = { ...KAFKA_TIMINGS, ...options.timings }
  const kafka = createKafkaClient(brokers, timings, log)
  const deps = { kafka, topic, store, leases, history: createHistory(store), timings, log }
  await within(
    ENSURE_TOPIC_MS_MAX,
    ensureTopic(kafka, topic).catch((err: unknown) => {
      log.warn({ err, brokers }, 'Kafka does not respond: events are read from the event store')
    }),
  )
  const open = createOpenResources()
  if (isPublisher) {
    // Each topic has a separate lease, and therefore a separate publisher, because two topics may
    // share a database.
    const lease = topic === KAFKA_TOPIC ? 'kafka-publisher' : `kafka-publisher:${topic}`
    const ttl = { ttlMs: timings.publisherTtlMs }
    open.track(leases.hold(lease, (_lease, lost) => publish(deps, lost), ttl))
  }
  const lanes: (() => boolean)[] = []
  const errors: (() => string | null)[] = []
  return {
    work: (name, worker) => {
      const work = open.track(createKafkaLaneWorker(deps, name, worker))
      lanes.push(work.isDegraded)
      errors.push(work.operatorError)
      return work
    },
    watch: (onCommitted) => {
      const watch = open.track(watchPositions(deps, onCommitted))
      errors.push(watch.operatorError)
      return watch
    },
    isDegraded: () => lanes.some((isDegraded) => isDegraded()),
    operatorError: () =>
      errors
        .map((operatorError) => operatorError())
        .find((operatorError) => operatorError !== null) ?? null,
    close: open.stopAll,
  }
}
