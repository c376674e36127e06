import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { EventStore } from '../../event-store/port.ts'
import type { Leases } from '../../leases/exclusive-leases.ts'
import type { EventBus } from '../port.ts'
import { createStartedWorkersAndWatches } from '../stop-started-workers-and-watches.ts'
import { type ConsumerSession, keepConsuming } from './consumer-session.ts'
import { createKafkaClient, ensureTopic, withAdmin, within } from './kafka-client.ts'
import { createKafkaLaneWorker } from './kafka-lane-worker.ts'
import { KAFKA_TIMINGS, type KafkaTimings } from './kafka-timings.ts'
import { headOf } from './lane-message.ts'
import { type PublisherDeps, publish } from './publisher.ts'
import { createHistoryIdReader } from './read-last-messages-and-history-id.ts'

export type KafkaBusOptions = {
  readonly brokers: readonly string[]
  readonly store: EventStore
  readonly leases: Leases
  readonly log: Logger
  readonly topic?: string
  /** False if this process must leave the publishing of events to other processes. */
  readonly isPublisher?: boolean
  readonly timings?: Partial<KafkaTimings>
}

export const KAFKA_TOPIC = 'tallygate-events'
/**
 * The maximum time in milliseconds for which the start of the process waits until the Kafka topic
 * is created or checked. After this time, the process starts without Kafka.
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
  const deps = { kafka, topic, store, leases, history: createHistoryIdReader(store), timings, log }
  await within(
    ENSURE_TOPIC_MS_MAX,
    ensureTopic(kafka, topic).catch((err: unknown) => {
      log.warn({ err, brokers }, 'Kafka does not respond: events are read from the event store')
    }),
  )
  const open = createStartedWorkersAndWatches()
  if (isPublisher) {
    // Each topic has a separate lease, and therefore a separate publisher, because buses with
    // different topics may share a database.
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

const DELETE_GROUP_MS_MAX = 3_000

type Watch = Pick<ConsumerSession, 'operatorError' | 'stop'>

/**
 * Calls `onCommitted` when a message has a higher position than all earlier messages. The event
 * store is also polled, because messages may be missing. Each process has a separate consumer
 * group, which commits no offsets.
 */
function watchPositions(deps: PublisherDeps, onCommitted: (position: number) => void): Watch {
  const { kafka, topic, store, timings, log } = deps
  const groupId = `tallygate-watch-${randomUUID()}`
  let notified = -1
  let isStopped = false
  const notify = (position: number): void => {
    if (isStopped || position <= notified) return
    notified = position
    onCommitted(position)
  }
  const poll = async (): Promise<void> => notify(await store.headPosition())
  const session = keepConsuming({
    kafka,
    topic,
    groupId,
    timings,
    log,
    onMessages: (_lane, messages) => {
      void deps.history().then(
        (history) => {
          const heads = messages.map(headOf).filter((head) => head?.history === history)
          notify(Math.max(-1, ...heads.map((head) => head?.position ?? -1)))
        },
        (err: unknown) => log.debug({ err }, 'reading the history of events failed'),
      )
    },
  })
  const polling = setInterval(
    () => void poll().catch((err: unknown) => log.debug({ err }, 'polling the event store failed')),
    timings.headPollMs,
  )
  return {
    operatorError: session.operatorError,
    stop: async () => {
      isStopped = true
      clearInterval(polling)
      await session.stop()
      // The group is deleted, because a broker keeps an empty group without commits for a long
      // time.
      const forgotten = withAdmin(kafka, (admin) => admin.deleteGroups([groupId]))
      await within(
        DELETE_GROUP_MS_MAX,
        forgotten.catch(() => []),
      )
    },
  }
}
