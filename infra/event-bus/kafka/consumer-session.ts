import { setTimeout as delay } from 'node:timers/promises'
import type { Consumer, EachBatchPayload, Kafka, KafkaMessage } from 'kafkajs'
import type { Logger } from 'pino'
import { LANE_COUNT } from '../lanes.ts'
import { disconnect, withAdmin } from './kafka-client.ts'
import type { KafkaTimings } from './timings.ts'

const RECONNECT_MS_MIN = 200
const COMMIT_EVERY_MS = 1_000

type SessionDeps = {
  readonly kafka: Kafka
  readonly topic: string
  readonly groupId: string
  readonly timings: KafkaTimings
  readonly log: Logger
  /** The group gave these lanes to this consumer, instead of those it had before. */
  readonly onAssigned?: (lanes: readonly number[]) => void
  readonly onMessages: (lane: number, messages: readonly KafkaMessage[]) => void
}

export type ConsumerSession = {
  /** Since when there is no place in the group, by `performance.now()`; null: there is one. */
  readonly awaySince: () => number | null
  /** Why there will be none before somebody mends the topic; null: nothing is known. */
  readonly fault: () => string | null
  readonly setPaused: (lane: number, isPaused: boolean) => void
  /** Commits soon that everything up to this offset was worked off. */
  readonly done: (lane: number, offset: string) => void
  /** The consumer seems to be deaf: another one is made. */
  readonly replace: (reason: string) => void
  readonly stop: () => Promise<void>
}

/**
 * Keeps one consumer in its group. A kafkajs consumer may crash for good, or fall silent without a
 * word: either way it is torn down and replaced, after growing pauses, for as long as it takes.
 */
export function keepConsuming(deps: SessionDeps): ConsumerSession {
  const { kafka, topic, groupId, timings, log } = deps
  const stopping = new AbortController()
  let consumer: Consumer | null = null
  let awaySince: number | null = performance.now()
  let hasJoined = false
  let fault: string | null = null
  const link: Link = { breakOff: () => {} }
  const pauses = createPauses(topic)
  const offsets = createOffsets(topic, () => (awaySince === null ? consumer : null))
  const onJoined = (lanes: readonly number[]): void => {
    awaySince = null
    hasJoined = true
    fault = null
    offsets.clear()
    deps.onAssigned?.(lanes.filter((lane) => lane < LANE_COUNT))
  }
  const attempt = async (): Promise<void> => {
    const made = kafka.consumer(consumerConfig(groupId, timings))
    consumer = made
    pauses.clear()
    try {
      await consumeUntilBroken(made, deps, { onJoined, stopping: stopping.signal, link })
    } finally {
      if (stopping.signal.aborted) await offsets.commit()
      awaySince ??= performance.now()
      consumer = null
      await disconnect(made)
    }
  }
  const run = async (): Promise<void> => {
    let failures = 0
    while (!stopping.signal.aborted) {
      hasJoined = false
      await attempt().catch((err: unknown) => {
        if (hasJoined) failures = 0
        if (err instanceof FewPartitions) fault = err.message
        // Said once, and not with every try while the broker is away.
        const level = failures === 0 ? 'warn' : 'debug'
        if (!stopping.signal.aborted) log[level]({ err, groupId }, 'a Kafka consumer is replaced')
      })
      const pauseMs = Math.min(timings.reconnectMsMax, RECONNECT_MS_MIN * 2 ** failures)
      failures += 1
      await rest(pauseMs, stopping.signal)
    }
  }
  const running = run()
  return {
    awaySince: () => awaySince,
    fault: () => fault,
    setPaused: (lane, isPaused) => pauses.set(consumer, lane, isPaused),
    done: offsets.done,
    replace: (reason) => link.breakOff(new Error(reason)),
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

/** Committed now and then, for those who watch the lag, and for where the next consumer begins. */
function createOffsets(topic: string, current: () => Consumer | null) {
  const offsets = new Map<number, string>()
  const commit = async (): Promise<void> => {
    const due = [...offsets].map(([partition, offset]) => ({ topic, partition, offset }))
    offsets.clear()
    const consumer = current()
    if (due.length > 0) await consumer?.commitOffsets(due).catch(() => {})
  }
  const committing = setInterval(() => void commit(), COMMIT_EVERY_MS)
  return {
    commit,
    clear: (): void => offsets.clear(),
    done: (lane: number, offset: string): void => {
      offsets.set(lane, String(BigInt(offset) + 1n))
    },
    stop: (): void => clearInterval(committing),
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

const rest = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms * (0.8 + 0.4 * Math.random()), undefined, { signal }).catch(() => {})

/** By which a consumer that seems to work is given up. */
type Link = { breakOff: (reason: Error) => void }

type Watched = {
  readonly onJoined: (lanes: readonly number[]) => void
  readonly link: Link
  readonly stopping: AbortSignal
}

/** Resolves when stopped; rejects when the consumer broke or fell silent. */
async function consumeUntilBroken(
  consumer: Consumer,
  { kafka, topic, timings, onMessages }: SessionDeps,
  { onJoined, stopping, link }: Watched,
): Promise<void> {
  const over = Promise.withResolvers<void>()
  link.breakOff = over.reject
  stopping.addEventListener('abort', () => over.resolve(), { once: true })
  let lastSign = performance.now()
  const { CRASH, GROUP_JOIN, HEARTBEAT } = consumer.events
  consumer.on(CRASH, ({ payload }) => over.reject(payload.error))
  consumer.on(HEARTBEAT, () => {
    lastSign = performance.now()
  })
  consumer.on(GROUP_JOIN, ({ payload }) => {
    lastSign = performance.now()
    onJoined(payload.memberAssignment[topic] ?? [])
  })
  const eachBatch = async ({ batch }: EachBatchPayload): Promise<void> => {
    if (batch.partition < LANE_COUNT) onMessages(batch.partition, batch.messages)
  }
  let isOver = false
  const start = async (): Promise<void> => {
    await consumer.connect()
    await refuseFewPartitions(kafka, topic)
    if (!isOver) await consumer.subscribe({ topic, fromBeginning: false })
    if (!isOver) {
      await consumer.run({ autoCommit: false, partitionsConsumedConcurrently: 1, eachBatch })
    }
    // NOTE: what is on its way in kafkajs goes on behind a disconnect, and stays without a second.
    if (isOver) await disconnect(consumer)
  }
  // Heartbeats are sent from the loop that fetches: their silence is its silence.
  const watchdog = setInterval(() => {
    if (performance.now() - lastSign > timings.silentMs) over.reject(new Error('it fell silent'))
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

class FewPartitions extends Error {}

/** Where the broker made the topic by its own defaults, some lanes would have no partition. */
async function refuseFewPartitions(kafka: Kafka, topic: string): Promise<void> {
  const offsets = await withAdmin(kafka, (admin) => admin.fetchTopicOffsets(topic))
  if (offsets.length >= LANE_COUNT) return
  const found = `the Kafka topic ${topic} has ${offsets.length} partitions of ${LANE_COUNT}`
  throw new FewPartitions(found)
}

type Deps = {
  readonly kafka: Kafka
  readonly topic: string
  readonly timings: Pick<KafkaTimings, 'silentMs'>
  /** The store feeds lanes although the consumer is in its group. */
  readonly isSuspected: () => boolean
  /** When a message last came for the lane; null: it is not expected here. */
  readonly lastCame: (lane: number) => number | null
  readonly onDeaf: () => void
}

/**
 * Tells when messages are added to the topic and do not come, while heartbeats go on: with several
 * brokers, the connection to one may have died alone. Without new messages it is not the consumer.
 */
export function detectStalledConsumer(deps: Deps): { readonly stop: () => void } {
  const { kafka, topic } = deps
  let seenAt = performance.now()
  let ends: ReadonlyMap<number, string> | null = null
  const look = async (): Promise<void> => {
    if (!deps.isSuspected()) {
      ends = null
      return
    }
    const before = ends
    const beforeAt = seenAt
    seenAt = performance.now()
    const offsets = await withAdmin(kafka, (admin) => admin.fetchTopicOffsets(topic))
    ends = new Map(offsets.map(({ partition, high }) => [partition, high]))
    const isDeaf = offsets.some(({ partition, high }) => {
      const lastCame = deps.lastCame(partition)
      if (before === null || lastCame === null || lastCame > beforeAt) return false
      return BigInt(high) > BigInt(before.get(partition) ?? high)
    })
    if (isDeaf && deps.isSuspected()) deps.onDeaf()
  }
  // Without an answer nothing is known, and the next look follows.
  const looking = setInterval(() => void look().catch(() => {}), deps.timings.silentMs / 2)
  return { stop: () => clearInterval(looking) }
}
