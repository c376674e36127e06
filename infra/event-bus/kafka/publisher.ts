import type { Kafka, Message, Producer } from 'kafkajs'
import type { Logger } from 'pino'
import type { Recorded } from '#domain/shared/event.ts'
import type { EventStore } from '../../event-store/port.ts'
import { ALL_LANES, laneOf } from '../lane-of-stream.ts'
import { disconnect, ensureTopic } from './kafka-client.ts'
import type { KafkaTimings } from './kafka-timings.ts'
import { encodeMessage } from './lane-message.ts'
import { readLastMessages } from './read-last-messages-and-history-id.ts'

/**
 * If at least this number of events are unpublished, the publisher skips these events and continues
 * at the last position of the event store.
 */
const CATCH_UP_MAX = 5_000
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
 * Copies committed events to the Kafka topic until `lost` aborts. Rejects when Kafka fails. The
 * next call of `publish` continues after the last message of the topic.
 */
export async function publish(deps: PublisherDeps, lost: AbortSignal): Promise<void> {
  const { kafka, topic, store, timings, log } = deps
  const history = await waitForHistory(deps, lost)
  if (history === null) return
  await ensureTopic(kafka, topic)
  const start = await startPositions(deps, history)
  if (lost.aborted) return
  const producer = kafka.producer({
    idempotent: true,
    // NOTE: with several requests in flight, messages could arrive out of order.
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
  })
  const lanes = createPublishedLanes(start, history)
  const over = Promise.withResolvers<void>()
  lost.addEventListener('abort', () => over.resolve(), { once: true })
  const sender = createSender({ producer, topic, lanes, timings, onError: over.reject })
  let subscription: { readonly stop: () => Promise<void> } | null = null
  try {
    await producer.connect()
    log.info({ topic, position: lanes.lowest() }, 'this process publishes events to Kafka')
    await sender.send(lanes.watermarks())
    subscription = store.subscribeAll(
      lanes.lowest(),
      async (events, position) => {
        const batches = events.length === 0 ? [] : lanes.batchesOf(events)
        lanes.reach(position)
        // All batches are queued in one step, so that no watermark (empty message) gets between two
        // batches.
        await Promise.all(batches.map(sender.send))
        await sender.watermark()
      },
      over.reject,
    )
    if (lost.aborted) over.resolve()
    await over.promise
  } finally {
    sender.stop()
    await disconnect(producer)
    // `stop` waits for the current batch. The wait is short, because the disconnected producer
    // makes a batch that waits for Kafka fail.
    await subscription?.stop()
  }
}

/**
 * Waits until the event store has an event, and returns the history id. Returns null when `lost`
 * aborts.
 */
async function waitForHistory(
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

/** Returns, by lane, the position after which publishing continues. */
async function startPositions(
  { kafka, topic, store, timings, log }: PublisherDeps,
  history: string,
): Promise<ReadonlyMap<number, number>> {
  const head = await store.headPosition()
  const ends = await readLastMessages(kafka, topic, timings)
  const foreign = [...ends.values()].find((end) => end.history !== history || end.position > head)
  if (foreign !== undefined) {
    // The messages in the topic come from another store, or were sent before a backup was restored.
    log.error(
      { topic, foreign, head },
      'alarm: the Kafka topic has messages of another history of events',
    )
    return new Map(ALL_LANES.map((lane) => [lane, head]))
  }
  const start = new Map(ALL_LANES.map((lane) => [lane, ends.get(lane)?.position ?? head]))
  const behind = await store.readAll(Math.min(...start.values()), CATCH_UP_MAX)
  // With too many unpublished events, publishing starts at the last position. Consumers read the
  // skipped events from the event store, which is faster.
  return behind.length < CATCH_UP_MAX ? start : new Map(ALL_LANES.map((lane) => [lane, head]))
}

type SenderDeps = {
  readonly producer: Producer
  readonly topic: string
  readonly lanes: PublishedLanes
  readonly timings: Pick<KafkaTimings, 'watermarkMs'>
  readonly onError: (error: unknown) => void
}

/** Sends one request at a time, and watermarks (empty messages) at most once per `watermarkMs`. */
function createSender({ producer, topic, lanes, timings, onError }: SenderDeps) {
  let tail: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | null = null
  let lastAt = Number.NEGATIVE_INFINITY
  let isStopped = false
  const send = (batch: MessageBatch): Promise<unknown> => {
    if (batch.length === 0 || isStopped) return tail
    const topicMessages = [{ topic, messages: [...batch] }]
    tail = tail.then(() => producer.sendBatch({ acks: ALL_REPLICAS, topicMessages }))
    return tail
  }
  const watermark = async (): Promise<void> => {
    const dueInMs = lastAt + timings.watermarkMs - performance.now()
    if (dueInMs <= 0) {
      lastAt = performance.now()
      await send(lanes.watermarks())
    } else if (!isStopped) {
      timer ??= setTimeout(() => {
        timer = null
        watermark().catch(onError)
      }, dueInMs)
    }
  }
  return {
    send,
    watermark,
    stop: (): void => {
      isStopped = true
      if (timer !== null) clearTimeout(timer)
    },
  }
}

/**
 * The maximum bytes per partition in a request. Kafka limits requests to `max.message.bytes` (1
 * MiB), and kafkajs does not split larger requests.
 */
const LANE_BYTES_MAX = 700_000
const MESSAGE_OVERHEAD_BYTES = 200
/** The maximum bytes of an event in a message. Larger events are read from the event store. */
const EVENT_BYTES_MAX = 500_000

type MessageBatch = readonly Message[]

type PublishedLanes = {
  readonly lowest: () => number
  /** Encodes events in batches that are small enough to send. A lane's events keep their order. */
  readonly batchesOf: (events: readonly Recorded[]) => MessageBatch[]
  /**
   * Records that all events up to `position` were passed to `batchesOf`, so that `watermarks` can
   * announce this position.
   */
  readonly reach: (position: number) => void
  /**
   * Returns a watermark (empty message) for every lane whose last message is before the position
   * that `reach` received, and for every lane whose start position has not been sent yet.
   */
  readonly watermarks: () => MessageBatch
}

/** Tracks for each lane the position up to which its events are in the topic. */
export function createPublishedLanes(
  start: ReadonlyMap<number, number>,
  history: string,
): PublishedLanes {
  const positions = new Map(start)
  let reached = Math.min(...start.values())
  const positionOf = (lane: number): number => positions.get(lane) ?? 0
  /** The lanes whose start position has not been sent yet. */
  const unannounced = new Set(ALL_LANES)

  const messageOf = (event: Recorded): { lane: number; message: Message; bytes: number } | null => {
    const lane = laneOf(event.stream)
    const after = positionOf(lane)
    if (event.position <= after) return null
    positions.set(lane, event.position)
    const message = encodeMessage({ after, position: event.position, event }, history)
    const bytes = (message.value?.length ?? 0) + MESSAGE_OVERHEAD_BYTES
    if (bytes <= EVENT_BYTES_MAX) return { lane, message: { ...message, partition: lane }, bytes }
    const place = { after: event.position, position: event.position, event: null }
    const pointer = { ...encodeMessage(place, history), partition: lane }
    return { lane, message: pointer, bytes: MESSAGE_OVERHEAD_BYTES }
  }
  return {
    lowest: () => Math.min(...positions.values()),
    reach: (position) => {
      reached = Math.max(reached, position)
    },
    batchesOf: (events) => {
      const batches: Message[][] = [[]]
      let bytesByLane = new Map<number, number>()
      for (const event of events) {
        const encoded = messageOf(event)
        if (encoded === null) continue
        const { lane, message, bytes } = encoded
        if ((bytesByLane.get(lane) ?? 0) + bytes > LANE_BYTES_MAX) {
          batches.push([])
          bytesByLane = new Map()
        }
        bytesByLane.set(lane, (bytesByLane.get(lane) ?? 0) + bytes)
        batches.at(-1)?.push(message)
        unannounced.delete(lane)
      }
      return batches.filter((batch) => batch.length > 0)
    },
    watermarks: () =>
      ALL_LANES.filter((lane) => positionOf(lane) < reached || unannounced.has(lane)).map(
        (lane) => {
          const after = positionOf(lane)
          const position = Math.max(after, reached)
          unannounced.delete(lane)
          positions.set(lane, position)
          return { ...encodeMessage({ after, position, event: null }, history), partition: lane }
        },
      ),
  }
}
