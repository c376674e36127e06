import { setTimeout as delay } from 'node:timers/promises'
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs'
import type { Logger } from 'pino'
import { LANE_COUNT } from '../lane-of-stream.ts'
import { createOffsets } from './consumer-offsets.ts'
import { disconnect, withAdmin } from './kafka-client.ts'
import type { KafkaTimings } from './kafka-timings.ts'

const RECONNECT_MS_MIN = 200

type SessionDeps = {
  readonly kafka: Kafka
  readonly topic: string
  readonly groupId: string
  readonly timings: KafkaTimings
  readonly log: Logger
  /**
   * Called with all lanes that Kafka now assigns to this consumer. All other lanes are no longer
   * assigned to this consumer.
   */
  readonly onAssigned?: (lanes: readonly number[]) => void
  readonly onMessages: (lane: number, messages: readonly KafkaMessage[]) => void
}

export type ConsumerSession = {
  /**
   * Returns the `performance.now()` at which the consumer left its group, or null while the
   * consumer is a member.
   */
  readonly outOfGroupSince: () => number | null
  /**
   * Returns the error that keeps the consumer out of its group until an operator fixes the topic,
   * or null if there is none.
   */
  readonly operatorError: () => string | null
  readonly setPaused: (lane: number, isPaused: boolean) => void
  /**
   * Schedules the commit of the offset after `offset`. All messages up to `offset` must have been
   * processed.
   */
  readonly done: (lane: number, offset: string) => void
  readonly replace: (reason: string) => void
  readonly stop: () => Promise<void>
}

/**
 * Keeps a consumer in its group. A kafkajs consumer that crashes permanently or stops without an
 * error is replaced. The pauses between attempts grow.
 */
export function keepConsuming(deps: SessionDeps): ConsumerSession {
  const { kafka, topic, groupId, timings, log } = deps
  const stopping = new AbortController()
  let consumer: Consumer | null = null
  let outOfGroupSince: number | null = performance.now()
  let hasJoined = false
  let operatorError: string | null = null
  const handle: ConsumerHandle = { fail: () => {} }
  const pauses = createPauses(topic)
  const offsets = createOffsets(topic, () => (outOfGroupSince === null ? consumer : null))
  const onJoined = (memberId: string, lanes: readonly number[]): void => {
    outOfGroupSince = null
    hasJoined = true
    operatorError = null
    offsets.assign(memberId, lanes)
    deps.onAssigned?.(lanes.filter((lane) => lane < LANE_COUNT))
  }
  const hooks = { onJoined, onReceived: offsets.onReceived, stopping: stopping.signal, handle }
  const attempt = async (): Promise<void> => {
    const newConsumer = kafka.consumer(consumerConfig(groupId, timings))
    consumer = newConsumer
    pauses.clear()
    try {
      await consumeUntilBroken(newConsumer, deps, hooks)
    } finally {
      if (stopping.signal.aborted) await offsets.commit()
      outOfGroupSince ??= performance.now()
      consumer = null
      await disconnect(newConsumer)
    }
  }
  const run = async (): Promise<void> => {
    let failures = 0
    while (!stopping.signal.aborted) {
      hasJoined = false
      await attempt().catch((err: unknown) => {
        if (hasJoined) failures = 0
        if (err instanceof TooFewPartitions) operatorError = err.message
        const level = failures === 0 ? 'warn' : 'debug'
        if (!stopping.signal.aborted) log[level]({ err, groupId }, 'a Kafka consumer is replaced')
      })
      const pauseMs = Math.min(timings.reconnectMsMax, RECONNECT_MS_MIN * 2 ** failures)
      failures += 1
      await pause(pauseMs, stopping.signal)
    }
  }
  const running = run()
  return {
    outOfGroupSince: () => outOfGroupSince,
    operatorError: () => operatorError,
    setPaused: (lane, isPaused) => pauses.set(consumer, lane, isPaused),
    done: offsets.done,
    replace: (reason) => handle.fail(new Error(reason)),
    stop: async () => {
      offsets.stop()
      stopping.abort()
      await running
    },
  }
}

function createPauses(topic: string) {
  const paused = new Set<number>()
  return {
    clear: (): void => paused.clear(),
    set: (consumer: Consumer | null, lane: number, isPaused: boolean): void => {
      if (consumer === null || paused.has(lane) === isPaused) return
      const partition = [{ topic, partitions: [lane] }]
      if (isPaused) {
        consumer.pause(partition)
        paused.add(lane)
      } else {
        consumer.resume(partition)
        paused.delete(lane)
      }
    },
  }
}

const consumerConfig = (groupId: string, timings: KafkaTimings) => ({
  groupId,
  sessionTimeout: timings.sessionTimeoutMs,
  heartbeatInterval: timings.heartbeatMs,
  rebalanceTimeout: timings.sessionTimeoutMs,
  maxWaitTimeInMs: timings.fetchWaitMs,
  allowAutoTopicCreation: false,
  retry: { retries: 2, initialRetryTime: 100, restartOnFailure: async () => false },
})

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms * (0.8 + 0.4 * Math.random()), undefined, { signal }).catch(() => {})

type ConsumerHandle = { fail: (reason: Error) => void }

type SessionHooks = {
  readonly onJoined: (memberId: string, lanes: readonly number[]) => void
  /** Called before the messages of a lane are passed on. */
  readonly onReceived: (lane: number, firstOffset: string) => void
  readonly handle: ConsumerHandle
  readonly stopping: AbortSignal
}

/**
 * Runs the consumer. Resolves when `stopping` aborts. Rejects when the consumer fails or sends no
 * heartbeats, or when `handle.fail` is called.
 */
async function consumeUntilBroken(
  consumer: Consumer,
  { kafka, topic, timings, onMessages }: SessionDeps,
  { onJoined, onReceived, stopping, handle }: SessionHooks,
): Promise<void> {
  const over = Promise.withResolvers<void>()
  handle.fail = over.reject
  stopping.addEventListener('abort', () => over.resolve(), { once: true })
  let lastSignalAt = performance.now()
  const { CRASH, GROUP_JOIN, HEARTBEAT } = consumer.events
  consumer.on(CRASH, ({ payload }) => over.reject(payload.error))
  consumer.on(HEARTBEAT, () => {
    lastSignalAt = performance.now()
  })
  consumer.on(GROUP_JOIN, ({ payload }) => {
    lastSignalAt = performance.now()
    onJoined(payload.memberId, payload.memberAssignment[topic] ?? [])
  })
  const eachBatch = async ({ batch }: EachBatchPayload): Promise<void> => {
    const { partition, messages } = batch
    if (partition >= LANE_COUNT) return
    const [first] = messages
    if (first !== undefined) onReceived(partition, first.offset)
    onMessages(partition, messages)
  }
  let isOver = false
  const start = async (): Promise<void> => {
    await consumer.connect()
    await assertEnoughPartitions(kafka, topic)
    if (!isOver) await consumer.subscribe({ topic, fromBeginning: false })
    if (!isOver) {
      await consumer.run({ autoCommit: false, partitionsConsumedConcurrently: 1, eachBatch })
    }
    // NOTE: kafkajs may have started new requests after the first disconnect. A second disconnect
    // ends these requests.
    if (isOver) await disconnect(consumer)
  }
  // kafkajs sends heartbeats from its fetch loop, so missing heartbeats show that the loop has
  // stopped.
  const watchdog = setInterval(() => {
    if (performance.now() - lastSignalAt > timings.silentMs) {
      over.reject(new Error('the consumer fell silent'))
    }
  }, timings.silentMs / 4)
  try {
    start().catch(over.reject)
    if (stopping.aborted) over.resolve()
    await over.promise
  } finally {
    isOver = true
    clearInterval(watchdog)
  }
}

class TooFewPartitions extends Error {}

/**
 * Throws if the topic has too few partitions, for example because a broker created the topic with
 * its default settings.
 */
async function assertEnoughPartitions(kafka: Kafka, topic: string): Promise<void> {
  const offsets = await withAdmin(kafka, (admin) => admin.fetchTopicOffsets(topic))
  if (offsets.length >= LANE_COUNT) return
  const found = `the Kafka topic ${topic} has ${offsets.length} partitions of ${LANE_COUNT}`
  throw new TooFewPartitions(found)
}

type Deps = {
  readonly kafka: Kafka
  readonly topic: string
  readonly timings: Pick<KafkaTimings, 'silentMs'>
  /**
   * Reports whether the consumer may be stalled: it is a member of its group, but lanes
   * are fed from the event store.
   */
  readonly isSuspected: () => boolean
  /**
   * Returns the `performance.now()` of a lane's last message, or null for a lane that is not
   * consumed.
   */
  readonly lastMessageAt: (lane: number) => number | null
  readonly onStalled: () => void
}

/**
 * Detects a consumer that sends heartbeats but receives no messages, although the topic has new
 * messages. This happens, for example, if the connection to one of several brokers is dead.
 */
export function detectStalledConsumer(deps: Deps): { readonly stop: () => void } {
  const { kafka, topic } = deps
  let seenAt = performance.now()
  let ends: ReadonlyMap<number, string> | null = null
  const check = async (): Promise<void> => {
    if (!deps.isSuspected()) {
      ends = null
      return
    }
    const before = ends
    const beforeAt = seenAt
    seenAt = performance.now()
    const offsets = await withAdmin(kafka, (admin) => admin.fetchTopicOffsets(topic))
    ends = new Map(offsets.map(({ partition, high }) => [partition, high]))
    const isStalled = offsets.some(({ partition, high }) => {
      const lastMessageAt = deps.lastMessageAt(partition)
      if (before === null || lastMessageAt === null || lastMessageAt > beforeAt) return false
      return BigInt(high) > BigInt(before.get(partition) ?? high)
    })
    if (isStalled && deps.isSuspected()) deps.onStalled()
  }
  // The error of a failed check is ignored, because it does not show that the consumer is stalled.
  const checking = setInterval(() => void check().catch(() => {}), deps.timings.silentMs / 2)
  return { stop: () => clearInterval(checking) }
}
