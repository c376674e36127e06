import type { Kafka, Producer } from 'kafkajs'
import type { Logger } from 'pino'
import type { EventStore } from '../../event-store/port.ts'
import { ALL_LANES } from '../lanes.ts'
import { disconnect, ensureTopic } from './kafka-client.ts'
import { createPublishedLanes, type PublishedLanes, type Shipment } from './published-lanes.ts'
import type { KafkaTimings } from './timings.ts'
import { readTopicEnds } from './topic-ends.ts'

/** Further behind than so many events, the topic goes on at the head of the store. */
const REPEAT_MAX = 5_000
const ALL_REPLICAS = -1

export type PublisherDeps = {
  readonly kafka: Kafka
  readonly topic: string
  readonly store: EventStore
  readonly history: () => Promise<string | null>
  readonly timings: KafkaTimings
  readonly log: Logger
}

/**
 * Copies committed events to the topic until `lost` aborts; rejects when Kafka fails, and whoever
 * calls begins again at what the topic then ends with.
 */
export async function publish(deps: PublisherDeps, lost: AbortSignal): Promise<void> {
  const { kafka, topic, store, timings, log } = deps
  const history = await untilHistory(deps, lost)
  if (history === null) return
  await ensureTopic(kafka, topic)
  const start = await startOf(deps, history)
  if (lost.aborted) return
  const producer = kafka.producer({
    idempotent: true,
    // NOTE: kafkajs numbers messages as they leave; with more in flight they arrive out of order.
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
  })
  const lanes = createPublishedLanes(start, history)
  const over = Promise.withResolvers<void>()
  lost.addEventListener('abort', () => over.resolve(), { once: true })
  const sending = createSending({ producer, topic, lanes, timings, onError: over.reject })
  let subscription: { readonly stop: () => Promise<void> } | null = null
  try {
    await producer.connect()
    log.info({ topic, position: lanes.lowest() }, 'events are published to Kafka')
    await sending.ship(lanes.watermarks())
    subscription = store.subscribeAll(
      lanes.lowest(),
      async (events, position) => {
        const shipments = events.length === 0 ? [] : lanes.ship(events)
        lanes.reach(position)
        // All at once into the line, so that no watermark gets between them.
        await Promise.all(shipments.map(sending.ship))
        await sending.watermark()
      },
      over.reject,
    )
    if (lost.aborted) over.resolve()
    await over.promise
  } finally {
    sending.stop()
    await disconnect(producer)
    // Its batch, if it waits for Kafka, has failed by now.
    await subscription?.stop()
  }
}

/** A store without any event has nothing to publish. */
async function untilHistory(
  { history, timings }: PublisherDeps,
  lost: AbortSignal,
): Promise<string | null> {
  while (!lost.aborted) {
    const found = await history()
    if (found !== null) return found
    await new Promise((resolve) => setTimeout(resolve, timings.storePollMs))
  }
  return null
}

/** Per lane, the position behind which it goes on. */
async function startOf(
  { kafka, topic, store, timings, log }: PublisherDeps,
  history: string,
): Promise<ReadonlyMap<number, number>> {
  const head = await store.headPosition()
  const ends = await readTopicEnds(kafka, topic, timings)
  const strange = [...ends.values()].find((end) => end.history !== history || end.position > head)
  if (strange !== undefined) {
    // Of another store, or of this one before a backup was restored.
    log.error({ topic, strange, head }, 'alarm: the Kafka topic has messages of other events')
    return new Map(ALL_LANES.map((lane) => [lane, head]))
  }
  const start = new Map(ALL_LANES.map((lane) => [lane, ends.get(lane)?.position ?? head]))
  const behind = await store.readAll(Math.min(...start.values()), REPEAT_MAX)
  // Who waits for these reads them from the store: sooner than they come by way of Kafka.
  return behind.length < REPEAT_MAX ? start : new Map(ALL_LANES.map((lane) => [lane, head]))
}

type SendingDeps = {
  readonly producer: Producer
  readonly topic: string
  readonly lanes: PublishedLanes
  readonly timings: Pick<KafkaTimings, 'watermarkMs'>
  readonly onError: (error: unknown) => void
}

/** Sends one thing after the other, and watermarks at most every `watermarkMs`. */
function createSending({ producer, topic, lanes, timings, onError }: SendingDeps) {
  let tail: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | null = null
  let lastAt = Number.NEGATIVE_INFINITY
  let isStopped = false
  const ship = (shipment: Shipment): Promise<unknown> => {
    if (shipment.length === 0 || isStopped) return tail
    const topicMessages = [{ topic, messages: [...shipment] }]
    tail = tail.then(() => producer.sendBatch({ acks: ALL_REPLICAS, topicMessages }))
    return tail
  }
  const watermark = async (): Promise<void> => {
    const dueInMs = lastAt + timings.watermarkMs - performance.now()
    if (dueInMs <= 0) {
      lastAt = performance.now()
      await ship(lanes.watermarks())
    } else if (!isStopped) {
      timer ??= setTimeout(() => {
        timer = null
        watermark().catch(onError)
      }, dueInMs)
    }
  }
  return {
    ship,
    watermark,
    stop: (): void => {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
    },
  }
}
