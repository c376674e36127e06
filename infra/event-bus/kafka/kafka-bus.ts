import type { Logger } from 'pino'
import type { EventStore } from '../../event-store/port.ts'
import type { Leases } from '../../leases/leases.ts'
import { createOpenWorks } from '../lanes.ts'
import type { EventBus } from '../port.ts'
import { createKafkaClient, ensureTopic, within } from './kafka-client.ts'
import { watchTopic } from './kafka-watch.ts'
import { workOn } from './kafka-work.ts'
import { publish } from './publisher.ts'
import { KAFKA_TIMINGS, type KafkaTimings } from './timings.ts'
import { createHistory } from './topic-ends.ts'

export type KafkaBusOptions = {
  /** `host:port` each. */
  readonly brokers: readonly string[]
  readonly store: EventStore
  readonly leases: Leases
  readonly log: Logger
  readonly topic?: string
  /** False: this process leaves publishing to the others. */
  readonly isPublisher?: boolean
  readonly timings?: Partial<KafkaTimings>
}

export const KAFKA_TOPIC = 'tallygate-events'
/** A Kafka that is not there must not keep the server from starting. */
const ENSURE_TOPIC_MS_MAX = 5_000

/**
 * The bus over Kafka: one process publishes what is committed, all consume it. Never throws for
 * want of a broker: until there is one, events are read from the event store.
 */
export async function createKafkaBus(options: KafkaBusOptions): Promise<EventBus> {
  const { brokers, store, leases, log, topic = KAFKA_TOPIC, isPublisher = true } = options
  const timings = { ...KAFKA_TIMINGS, ...options.timings }
  const kafka = createKafkaClient(brokers, timings, log)
  const parts = { kafka, topic, store, leases, history: createHistory(store), timings, log }
  await within(
    ENSURE_TOPIC_MS_MAX,
    ensureTopic(kafka, topic).catch((err: unknown) => {
      log.warn({ err, brokers }, 'Kafka does not answer: the event store is read instead')
    }),
  )
  const works = createOpenWorks()
  if (isPublisher) {
    // The lease is the topic's, so that two topics on one database each have their publisher.
    const lease = topic === KAFKA_TOPIC ? 'kafka-publisher' : `kafka-publisher:${topic}`
    const ttl = { ttlMs: timings.publisherTtlMs }
    works.keep(leases.hold(lease, (_lease, lost) => publish(parts, lost), ttl))
  }
  const lanes: (() => boolean)[] = []
  const faults: (() => string | null)[] = []
  return {
    work: (name, worker) => {
      const work = works.keep(workOn(parts, name, worker))
      lanes.push(work.isDegraded)
      faults.push(work.fault)
      return work
    },
    watch: (onNews) => {
      const watch = works.keep(watchTopic(parts, onNews))
      faults.push(watch.fault)
      return watch
    },
    isDegraded: () => lanes.some((isDegraded) => isDegraded()),
    fault: () => faults.map((fault) => fault()).find((fault) => fault !== null) ?? null,
    close: works.stopAll,
  }
}
