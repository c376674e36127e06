import { createRequire } from 'node:module'
import { type Admin, Kafka, type logCreator, logLevel } from 'kafkajs'
import type { Logger } from 'pino'
import { LANE_COUNT } from '../lanes.ts'
import type { KafkaTimings } from './timings.ts'

type RequestQueue = {
  readonly pending: readonly unknown[]
  scheduleCheckPendingRequests(this: RequestQueue): void
}

/**
 * Lets kafkajs look for requests that wait only where some do. As it is (2.2.4), every connection
 * looks each millisecond for as long as it is open, by a timer that Node warns of as negative
 * (`TimeoutNegativeWarning`). No option of kafkajs reaches it.
 *
 * A request that comes to wait is looked for from then on, by kafkajs itself. Where its source has
 * no such queue any more, nothing is done.
 */
export function calmRequestQueues(): void {
  const queue = findRequestQueue()
  const original = queue?.scheduleCheckPendingRequests
  if (queue === null || original === undefined || calmed.has(original)) return
  const schedule = function (this: RequestQueue): void {
    if (this.pending.length > 0) original.call(this)
  }
  calmed.add(schedule)
  queue.scheduleCheckPendingRequests = schedule
}

const calmed = new WeakSet<RequestQueue['scheduleCheckPendingRequests']>()

function findRequestQueue(): RequestQueue | null {
  try {
    const path = 'kafkajs/src/network/requestQueue/index.js'
    const found: { readonly prototype: RequestQueue } = createRequire(import.meta.url)(path)
    return found.prototype
  } catch {
    return null
  }
}

/** Bounded: every caller tries again by itself, and may have something better to do meanwhile. */
const RETRY = { retries: 2, initialRetryTime: 100, maxRetryTime: 1_000 }
const CONNECT_MS_MAX = 3_000
/** Consumers that are further behind than this read the event store instead. */
const RETENTION_MS = 7 * 24 * 3_600_000
const REPLICAS_MAX = 3
/** kafkajs may wait for what never comes when a connection ends at the wrong moment. */
const DISCONNECT_MS_MAX = 3_000

export function createKafkaClient(
  brokers: readonly string[],
  timings: KafkaTimings,
  log: Logger,
): Kafka {
  calmRequestQueues()
  return new Kafka({
    clientId: 'tallygate',
    brokers: [...brokers],
    connectionTimeout: CONNECT_MS_MAX,
    requestTimeout: timings.requestTimeoutMs,
    // NOTE: without it, a broker that is stopped and keeps its sockets is waited for for ever.
    enforceRequestTimeout: true,
    retry: RETRY,
    logLevel: logLevel.WARN,
    logCreator: logInto(log),
  })
}

/** What kafkajs calls an error is mended by the next try; the bus says itself what matters. */
const logInto =
  (log: Logger): logCreator =>
  () =>
  ({ namespace, log: { message, error, groupId } }) =>
    log.debug({ namespace, error, groupId }, `kafkajs: ${message}`)

/** Creates the topic, or the partitions it lacks. Other partitions than the lanes' stay empty. */
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

/** Never throws, and never takes long. */
export async function disconnect(client: { disconnect(): Promise<void> }): Promise<void> {
  await within(
    DISCONNECT_MS_MAX,
    client.disconnect().catch(() => {}),
  )
}

/** Resolves with `work`, or with null after `ms`; what goes on then goes on unheard. */
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
