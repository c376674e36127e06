import { createRequire } from 'node:module'
import { type Admin, Kafka, type logCreator, logLevel } from 'kafkajs'
import type { Logger } from 'pino'
import { LANE_COUNT } from '../lane-of-stream.ts'
import type { KafkaTimings } from './kafka-timings.ts'

type RequestQueue = {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(this: RequestQueue): void
}

/**
 * Patches kafkajs 2.2.4, which otherwise wakes every millisecond on an idle connection. The queue
 * of requests in kafkajs sets a timer with a negative delay (`TimeoutNegativeWarning`), and no
 * option prevents this. With the patch, the timer is set only while requests wait. Versions of
 * kafkajs without this queue are not patched.
 */
export function patchRequestQueues(): void {
  const queue = findRequestQueue()
  const original = queue?.scheduleCheckPendingRequests
  if (queue === null || original === undefined || patched.has(original)) return
  const schedule = function (this: RequestQueue): void {
    if (this.pending.length > 0) original.call(this)
  }
  patched.add(schedule)
  queue.scheduleCheckPendingRequests = schedule
}

const patched = new WeakSet<RequestQueue['scheduleCheckPendingRequests']>()

function findRequestQueue(): RequestQueue | null {
  try {
    const path = 'kafkajs/src/network/requestQueue/index.js'
    const found: { readonly prototype: RequestQueue } = createRequire(import.meta.url)(path)
    return found.prototype
  } catch {
    return null
  }
}

/**
 * Limits kafkajs to two retries. More retries are not needed, because every caller of kafkajs
 * retries as well, and reads from the event store until a retry succeeds.
 */
const RETRY = { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 }
const CONNECT_MS_MAX = 3_000
/**
 * The time for which Kafka keeps a message. A consumer that needs an older message reads the event
 * store.
 */
const RETENTION_MS = 7 * 24 * 3_600_000
const REPLICAS_MAX = 3
/**
 * The maximum time for a disconnect. Without this limit, kafkajs may wait forever if a connection
 * is lost while kafkajs closes it.
 */
const DISCONNECT_MS_MAX = 3_000

export function createKafkaClient(
  brokers: readonly string[],
  timings: KafkaTimings,
  log: Logger,
): Kafka {
  patchRequestQueues()
  return new Kafka({
    clientId: 'tallygate',
    brokers: [...brokers],
    connectionTimeout: CONNECT_MS_MAX,
    requestTimeout: timings.requestTimeoutMs,
    // NOTE: without this option, requests to a suspended broker with open sockets wait forever.
    enforceRequestTimeout: true,
    retry: RETRY,
    logLevel: logLevel.WARN,
    logCreator: logInto(log),
  })
}

/** Logs kafkajs messages at level debug, because the bus logs the failures that matter. */
const logInto =
  (log: Logger): logCreator =>
  () =>
  ({ namespace, log: { message, error, groupId } }) =>
    log.debug({ namespace, error, groupId }, `kafkajs: ${message}`)

/** Creates the topic, or adds partitions to a topic that has too few. */
export async function ensureTopic(kafka: Kafka, topic: string): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    const topics = await admin.listTopics()
    if (!topics.includes(topic)) {
      const { brokers } = await admin.describeCluster()
      await admin.createTopics({
        waitForLeaders: true,
        topics: [
          {
            topic,
            numPartitions: LANE_COUNT,
            replicationFactor: Math.min(REPLICAS_MAX, brokers.length),
            configEntries: [{ name: 'retention.ms', value: String(RETENTION_MS) }],
          },
        ],
      })
      return
    }
    const offsets = await admin.fetchTopicOffsets(topic)
    if (offsets.length >= LANE_COUNT) return
    await admin.createPartitions({ topicPartitions: [{ topic, count: LANE_COUNT }] })
  })
}

export async function withAdmin<T>(kafka: Kafka, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    return await work(admin)
  } finally {
    await disconnect(admin)
  }
}

export async function disconnect(client: { disconnect(): Promise<void> }): Promise<void> {
  await within(
    DISCONNECT_MS_MAX,
    client.disconnect().catch(() => {}),
  )
}

/** Resolves with `work`, or with null after `ms` milliseconds. Does not cancel `work`. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
